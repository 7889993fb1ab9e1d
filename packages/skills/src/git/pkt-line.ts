/** Lines of git's protocol: four digits in hex say how long each is. Source: gitprotocol-common(5), gitprotocol-v2(5). */
import { SourceFailure } from '../source-failure.ts';

export const flush = '0000';
export const delimiter = '0001';

export const pktLine = (text: string): string => (text.length + 5).toString(16).padStart(4, '0') + text + '\n';

/** Most lines of an answer: far more than a list of 1 MiB has. A server could send millions that are empty. */
const maxLines = 50_000;

/** Lines as they come; null for those that part others. */
export function* linesOf(bytes: Buffer): Generator<Buffer | null> {
  let lines = 0;
  for (let at = 0; at < bytes.length;) {
    lines += 1;
    if (lines > maxLines) throw new SourceFailure(`the answer has more than ${maxLines} lines`);
    const digits = bytes.subarray(at, at + 4).toString('latin1');
    const length = /^[0-9a-f]{4}$/.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
    if (length <= 2) {
      at += 4;
      yield null;
    } else if (length >= 4 && at + length <= bytes.length) {
      yield bytes.subarray(at + 4, at + length);
      at += length;
    } else throw new SourceFailure("the server's answer is not git's");
  }
}

export const textOf = (line: Buffer): string => line.toString('latin1').replace(/\n$/, '');
