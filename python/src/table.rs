//! A table in the memory layout of Arrow.

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray,
};
use arrow_schema::{Field, Schema};
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyFloat, PyInt, PyString};

use super::unfit;

/// Named columns of equal length, which Arrow, polars, pandas 3 and others take without a copy.
#[pyclass(frozen, module = "flitwise")]
pub(crate) struct Table {
    batch: RecordBatch,
}

#[pymethods]
impl Table {
    /// From the name of each column and its values: numbers, truth values or texts, `None` where there is none.
    #[new]
    fn new(columns: Vec<(String, Vec<Bound<'_, PyAny>>)>) -> PyResult<Self> {
        let mut fields = Vec::with_capacity(columns.len());
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len());
        for (name, values) in columns {
            let array = array(&name, &values)?;
            fields.push(Field::new(name, array.data_type().clone(), true));
            arrays.push(array);
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(unfit)?;
        Ok(Self { batch })
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Number of rows.
    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The table as a stream of Arrow, by its `PyCapsule` interface; the schema is what it is, whatever is wished for.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema; // the interface lets a producer answer with its own
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        format!("<flitwise.Table of {} rows: {}>", self.batch.num_rows(), self.columns().join(", "))
    }
}

/// The values as an array of the narrowest type that holds them all.
fn array(name: &str, values: &[Bound<'_, PyAny>]) -> PyResult<ArrayRef> {
    let known: Vec<&Bound<'_, PyAny>> = values.iter().filter(|value| !value.is_none()).collect();
    let all = |fits: &dyn Fn(&Bound<'_, PyAny>) -> bool| known.iter().all(|value| fits(value));
    let is_bool = |value: &Bound<'_, PyAny>| value.is_instance_of::<PyBool>();
    // a truth value is a whole number in Python
    let is_whole = |value: &Bound<'_, PyAny>| value.is_instance_of::<PyInt>() && !is_bool(value);
    let is_real = |value: &Bound<'_, PyAny>| value.is_instance_of::<PyFloat>() || is_whole(value);
    let fits_whole = |value: &Bound<'_, PyAny>| is_whole(value) && value.extract::<i64>().is_ok();
    Ok(if known.is_empty() || !all(&fits_whole) && all(&is_real) {
        // nothing is known of a column without values; most are numbers
        Arc::new(Float64Array::from(extracted::<f64>(values)?))
    } else if all(&fits_whole) {
        Arc::new(Int64Array::from(extracted::<i64>(values)?))
    } else if all(&is_bool) {
        Arc::new(BooleanArray::from(extracted::<bool>(values)?))
    } else if let Some(other) = known.iter().find(|value| !value.is_instance_of::<PyString>()) {
        let kind = other.get_type();
        return Err(PyTypeError::new_err(format!(
            "column {name}: found a value of {kind} among others, wanted numbers, truth values or texts alone"
        )));
    } else {
        Arc::new(StringArray::from(extracted::<String>(values)?))
    })
}

/// The values, `None` where there is none.
fn extracted<'py, T: FromPyObjectOwned<'py>>(values: &[Bound<'py, PyAny>]) -> PyResult<Vec<Option<T>>> {
    values.iter().map(|value| value.extract::<Option<T>>().map_err(Into::into)).collect()
}
