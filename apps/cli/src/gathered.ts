/** Gathers pages of a list for one table, and finds what a person names in it. */
import type { Option } from 'commander';
import { Option as CommandOption } from 'commander';
import { CommandError, exitCodes, usageError } from './failure.ts';
import type { Run } from './run.ts';
import { quoted, safeLine } from './terminal/safe.ts';
import type { Column } from './terminal/table.ts';
import { integer } from './values.ts';

export const maxListed = 100_000;
const defaultListed = 50;
/** No list of an agent's things is longer. */
const maxLooked = 10_000;
const maxShown = 10;

export interface ListOptions {
  readonly limit: number;
}

export const limitOption = (): Option =>
  new CommandOption('--limit <count>', 'at most so many').argParser(integer(1, maxListed)).default(defaultListed);

/** A page of at most 100 of a list's items. */
export const pageOf = (limit: number): number => Math.min(limit, 100);

/** Prints at most `limit` items as a table, or as one list of the API. */
export async function showList<Item>(
  run: Run,
  items: AsyncIterable<Item>,
  limit: number,
  columns: readonly Column<Item>[],
  empty: string,
): Promise<void> {
  const data: Item[] = [];
  let hasMore = false;
  for await (const item of items) {
    if (data.length === limit) {
      hasMore = true;
      break;
    }
    data.push(item);
  }
  run.out.table({ object: 'list', data, has_more: hasMore }, data, columns, empty);
  if (hasMore && !run.out.isJson) run.out.note(`There are more than ${limit}: \`--limit\` shows more.`);
}

/** Finds the one item that a person means: by its id, or by a name that no other has. */
export async function named<Item extends { readonly id: string }>(
  items: AsyncIterable<Item>,
  meant: string,
  nameOf: (item: Item) => string,
  noun: string,
): Promise<Item> {
  const found: Item[] = [];
  let looked = 0;
  for await (const item of items) {
    if (item.id === meant) return item;
    if (nameOf(item) === meant) found.push(item);
    looked += 1;
    if (looked === maxLooked) break;
  }
  if (found.length === 1) return found[0]!;
  if (found.length === 0) throw new CommandError(exitCodes.notFound, `There is no ${noun} ${quoted(meant)}.`);
  const ids = found.slice(0, maxShown).map(({ id }) => safeLine(id, 80));
  throw usageError(
    `${quoted(meant)} could be ${found.length} of them: ${ids.join(', ')}.`,
    `Give the id of one ${noun}.`,
  );
}
