/** A block that is longer is no chat chunk. */
const mostBlockChars = 1024 * 1024;

/** The blocks of a server-sent event stream, each whole and without the blank line that ends it. */
export async function* eventBlocks(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pending = '';
  let searchFrom = 0;
  for await (const chunk of bytes) {
    pending += decoder.decode(chunk, { stream: true });
    const blankLine = /\r?\n\r?\n/g;
    blankLine.lastIndex = searchFrom;
    let start = 0;
    for (let match = blankLine.exec(pending); match; match = blankLine.exec(pending)) {
      if (match.index > start) yield pending.slice(start, match.index);
      start = blankLine.lastIndex;
    }
    pending = pending.slice(start);
    if (pending.length > mostBlockChars) throw new Error('an event without end');
    // The blank line itself may be cut in two.
    searchFrom = Math.max(0, pending.length - 3);
  }
}

/** What has to be known of a block: its data, and the lines that are not data. */
export function readBlock(block: string): { readonly data: string | null; readonly rest: readonly string[] } {
  const data: string[] = [];
  const rest: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const value = /^data:? ?(.*)$/.exec(line)?.[1];
    if (value === undefined) rest.push(line);
    else data.push(value);
  }
  return { data: data.length === 0 ? null : data.join('\n'), rest };
}

/** Comment that keeps a silent stream alive: clients skip it. */
const comment = ': working\n\n';
const silent = Symbol('silent');

/**
 * The same texts, with a comment wherever none came for `silenceMs`, and one at once when it was silent before (`late`).
 * Each text is a whole block, so a comment never cuts one.
 */
export async function* withComments(
  texts: AsyncIterable<string>,
  silenceMs: number,
  late: boolean,
): AsyncGenerator<string> {
  const iterator = texts[Symbol.asyncIterator]();
  try {
    if (late) yield comment;
    let next = iterator.next();
    for (;;) {
      let timer: NodeJS.Timeout | undefined;
      const silence = new Promise<typeof silent>((resolve) => {
        timer = setTimeout(resolve, silenceMs, silent);
      });
      const first = await Promise.race([next, silence]).finally(() => clearTimeout(timer));
      if (first === silent) yield comment;
      else if (first.done) return;
      else {
        yield first.value;
        next = iterator.next();
      }
    }
  } finally {
    await iterator.return?.();
  }
}
