/** A generated table by the names of its columns in the database. */
export type SnakeCased<Table> = { [Column in keyof Table as SnakeCase<Column & string>]: Table[Column] };
type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Uppercase<First> ? (First extends Lowercase<First> ? First : `_${Lowercase<First>}`) : First}${SnakeCase<Rest>}`
  : Name;
