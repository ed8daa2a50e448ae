//! From a picture to SVG and PNG.
