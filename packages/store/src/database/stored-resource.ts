/** Facts of a room's tables that go over all rooms: the change of the master key, notifications, the types of rows. */
export interface StoredResource {
  /** Topics of its notifications. */
  readonly topics: readonly string[];
  /** Columns with sealed secrets. Every such column must be listed, or a change of the master key would miss it. */
  readonly sealed: readonly SealedPlace[];
  /**
   * Types of columns that are narrower than their types in Postgres, by `table.column`, with words of `domain`, `ports`,
   * `JsonColumn` and `MemberJson`. An array's is the type of its elements. Whether a column may be null or has a default
   * comes from the database.
   */
  readonly columns: Readonly<Record<string, string>>;
}

export interface SealedPlace {
  readonly table: string;
  readonly column: string;
  /** The table's primary key. */
  readonly key: readonly string[];
  /** The `SecretBox` context, from the primary key's values. */
  readonly context: (...id: [string, string, string, string]) => string;
}
