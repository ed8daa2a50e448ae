//! Whether all numbers of a value are finite: serialization into nothing.

use std::fmt;

use serde::Serialize;
use serde::ser::{self, Serializer};

/// What is in the way of a key.
#[derive(Debug)]
pub(super) struct Unfit(String);

/// # Errors
/// A number that is NaN or infinite, or the value's own failure to be serialized.
pub(super) fn check<T: Serialize + ?Sized>(value: &T) -> Result<(), Unfit> {
    value.serialize(Finite)
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unfit {}

impl ser::Error for Unfit {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// Takes anything but numbers that are not finite.
struct Finite;

/// Values that hold no others.
macro_rules! take {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, _: $type) -> Result<(), Unfit> { Ok(()) })*
    };
}

impl Serializer for Finite {
    type Ok = ();
    type Error = Unfit;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    take! {
        serialize_bool: bool, serialize_char: char, serialize_str: &str, serialize_bytes: &[u8],
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128,
        serialize_unit_struct: &'static str
    }

    fn serialize_f32(self, number: f32) -> Result<(), Unfit> {
        self.serialize_f64(number.into())
    }

    fn serialize_f64(self, number: f64) -> Result<(), Unfit> {
        if number.is_finite() { Ok(()) } else { Err(Unfit(format!("the number {number} is not finite"))) }
    }

    fn serialize_none(self) -> Result<(), Unfit> {
        Ok(())
    }

    fn serialize_unit(self) -> Result<(), Unfit> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unfit> {
        check(value)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Unfit> {
        check(value)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), Unfit> {
        Ok(())
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Unfit> {
        check(value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Unfit> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Unfit> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Unfit> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Unfit> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Unfit> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Unfit> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Unfit> {
        Ok(self)
    }
}

/// Values that hold others, without names.
macro_rules! take_items {
    ($($trait:ident: $method:ident),*) => {
        $(impl ser::$trait for Finite {
            type Ok = ();
            type Error = Unfit;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
                check(value)
            }

            fn end(self) -> Result<(), Unfit> {
                Ok(())
            }
        })*
    };
}

/// Values that hold others, with names.
macro_rules! take_fields {
    ($($trait:ident),*) => {
        $(impl ser::$trait for Finite {
            type Ok = ();
            type Error = Unfit;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, _: &'static str, value: &T) -> Result<(), Unfit> {
                check(value)
            }

            fn end(self) -> Result<(), Unfit> {
                Ok(())
            }
        })*
    };
}

take_items! {
    SerializeSeq: serialize_element, SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field, SerializeTupleVariant: serialize_field
}
take_fields! { SerializeStruct, SerializeStructVariant }

impl ser::SerializeMap for Finite {
    type Ok = ();
    type Error = Unfit;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Unfit> {
        check(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
        check(value)
    }

    fn end(self) -> Result<(), Unfit> {
        Ok(())
    }
}
