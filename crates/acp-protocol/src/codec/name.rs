//! Ids and string enums.

/// Gives an id, a newtype over `Arc<str>`, its conversions and its JSON form.
macro_rules! id {
    ($type:ident) => {
        impl $type {
            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $type {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $type {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl From<std::sync::Arc<str>> for $type {
            fn from(text: std::sync::Arc<str>) -> Self {
                Self(text)
            }
        }

        impl From<&$type> for $type {
            fn from(id: &$type) -> Self {
                id.clone()
            }
        }

        impl From<$type> for std::sync::Arc<str> {
            fn from(id: $type) -> Self {
                id.0
            }
        }

        impl std::borrow::Borrow<str> for $type {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $type {
            fn eq(&self, other: &str) -> bool {
                &*self.0 == other
            }
        }

        impl PartialEq<&str> for $type {
            fn eq(&self, other: &&str) -> bool {
                &*self.0 == *other
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str(&self.0)
            }
        }

        impl serde::Serialize for $type {
            #[inline]
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        $crate::codec::name::from_text!($type, "a string");
    };
}

/// Gives a string enum its conversions and its JSON form.
macro_rules! string_enum {
    ($type:ident { $($variant:ident = $name:literal),* $(,)? }) => {
        impl $type {
            /// The values the protocol names.
            pub const KNOWN: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the value as it is written on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Unrecognized(text) => text,
                }
            }
        }

        impl From<&str> for $type {
            #[inline]
            fn from(text: &str) -> Self {
                match text {
                    $($name => Self::$variant,)*
                    other => Self::Unrecognized(other.into()),
                }
            }
        }

        impl From<String> for $type {
            fn from(text: String) -> Self {
                Self::from(text.as_str())
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $type {
            #[inline]
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        $crate::codec::name::from_text!($type, "a string");
    };
}

/// Reads a type that is made from `&str`.
macro_rules! from_text {
    ($type:ident, $expected:literal) => {
        impl<'de> serde::Deserialize<'de> for $type {
            #[inline]
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct TextVisitor;

                impl serde::de::Visitor<'_> for TextVisitor {
                    type Value = $type;

                    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        out.write_str($expected)
                    }

                    #[inline]
                    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                        Ok($type::from(text))
                    }
                }

                deserializer.deserialize_str(TextVisitor)
            }
        }

        impl<'de> $crate::codec::forgive::Forgive<'de> for $type {
            #[inline]
            fn forgive<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Option<Self>, D::Error> {
                $crate::codec::forgive::text(deserializer, |text| $type::from(text))
            }
        }
    };
}

pub(crate) use {from_text, id, string_enum};
