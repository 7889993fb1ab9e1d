/**
 * Edits files of the product as this process loads them: a test adds something as a person would, and proves that these lines
 * are enough. Modules that need them must be imported afterwards, by `await import`.
 */
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

export interface Edit {
  /** From the root of the repository. */
  readonly file: string;
  /** The first text of the file that the lines go before; left out, its beginning. */
  readonly before?: string;
  readonly lines: string;
}

const root = new URL('../../../', import.meta.url);

export function edit(edits: readonly Edit[]): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const own = edits.filter(({ file }) => new URL(file, root).href === url);
      return own.length === 0 ? loaded : { ...loaded, source: own.reduce(edited, textOf(loaded.source)) };
    },
  });
}

const textOf = (source: unknown): string =>
  typeof source === 'string' ? source : Buffer.from(source as Uint8Array).toString();

function edited(source: string, { file, before = '', lines }: Edit): string {
  const at = source.indexOf(before);
  if (at < 0) throw new Error(`${fileURLToPath(new URL(file, root))} has no ${before}`);
  return `${source.slice(0, at)}${lines}\n${source.slice(at)}`;
}
