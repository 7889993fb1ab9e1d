/** A push of git's, in words: a person cannot read its pack, but the refs that it changes. */

interface Push {
  /** A line for each ref. */
  readonly refs: readonly string[];
  /** The pack. */
  readonly rest: Buffer;
}

const mostRefs = 20;
const command = /^([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) (\S{1,250})$/;

/** Reads the lines of commands before a pack (git's protocol-pack). Null where the bytes begin otherwise. */
export function pushOf(bytes: Buffer): Push | null {
  const refs: string[] = [];
  for (let at = 0; refs.length <= mostRefs;) {
    const size = /^[0-9a-f]{4}$/.test(bytes.toString('latin1', at, at + 4))
      ? parseInt(bytes.toString('latin1', at, at + 4), 16)
      : -1;
    if (size === 0) return refs.length === 0 ? null : { refs, rest: bytes.subarray(at + 4) };
    if (size < 5 || at + size > bytes.length) return null;
    const line = bytes.toString('utf8', at + 4, at + size).split('\0', 1)[0]!;
    const [, before, after, ref] = command.exec(line.replace(/\n$/, '')) ?? [];
    if (before === undefined || after === undefined) return null;
    refs.push(sentenceOf(before, after, ref!));
    at += size;
  }
  return null;
}

const isNone = (id: string): boolean => id.replaceAll('0', '') === '';

function sentenceOf(before: string, after: string, ref: string): string {
  if (isNone(after)) return `git push: delete ${ref}, which is ${before}`;
  return `git push: ${ref} becomes ${after}${isNone(before) ? ', and is new' : ` after ${before}`}`;
}
