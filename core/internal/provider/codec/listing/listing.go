// Package listing reads the lists of models that endpoints give, in every shape that
// is in use. It knows no connection, believes no size, and passes over what it cannot
// read rather than losing the rest.
package listing
