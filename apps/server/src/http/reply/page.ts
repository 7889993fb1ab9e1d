interface Page<Row, Item> {
  /** The requested page size; `rows` has one more if more follow. */
  readonly limit: number;
  readonly record: (row: Row) => Item;
  /** The sealed end of the page. */
  readonly cursorOf: (last: Row) => string | null;
}

/** The reply of a list that is read page by page. */
export function pageReply<Row, Item>(rows: readonly Row[], { limit, record, cursorOf }: Page<Row, Item>) {
  const page = rows.slice(0, limit);
  const hasMore = rows.length > limit;
  return {
    object: 'list' as const,
    data: page.map((row) => record(row)),
    has_more: hasMore,
    next_cursor: hasMore ? cursorOf(page.at(-1)!) : null,
  };
}
