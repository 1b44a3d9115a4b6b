/** A value of type `T` that only a function of the right module may call `Name`. Costs nothing at run time. */
export type Brand<T, Name extends string> = T & { readonly __brand: Name };
