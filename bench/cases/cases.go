// Package cases reads what is measured: case files written by people, replay files, and cases mined
// from a repository's own history.
package cases

import "reflect"

// typeName is a JSON word for a Go kind, for error messages.
func typeName(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Bool:
		return "true or false"
	default:
		return "a number"
	}
}
