/** Questions to the person at the terminal. Without a terminal they are refused, and the refusal names the option instead. */
import { createInterface } from 'node:readline/promises';
import type { ReadStream } from 'node:tty';
import { CommandError, exitCodes, usageError } from '../failure.ts';
import type { Output } from './output.ts';

const maxSecretChars = 4096;
/** A person pastes no more, and a file with a secret holds no more. */
const maxInputBytes = 16 * 1024 * 1024;

export interface Asker {
  readonly out: Output;
  readonly signal: AbortSignal;
}

const interrupted = (): CommandError => new CommandError(exitCodes.interrupted, 'Interrupted.');

/** Whether somebody can be asked. */
export const canAsk = ({ out }: Asker): boolean => process.stdin.isTTY && out.isErrTty;

/** Asks whether to go on. `option` is what scripts give instead. */
export async function confirm(asker: Asker, question: string, option = '--yes'): Promise<void> {
  if (!canAsk(asker)) throw usageError(`${question} Nobody can be asked here.`, `Give ${option} to go on.`);
  const answer = await ask(asker, `${question} [y/N] `);
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new CommandError(exitCodes.failure, 'Nothing was changed.');
}

/** Asks for one line. */
export async function ask(asker: Asker, question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  try {
    return await lines.question(question, { signal: asker.signal });
  } catch {
    asker.out.writeError('\n');
    throw interrupted();
  } finally {
    lines.close();
  }
}

/** Asks for a secret, which is not shown. `option` is what scripts give instead. */
export async function askSecret(asker: Asker, question: string, option: string): Promise<string> {
  if (!canAsk(asker)) throw usageError(`${question} Nobody can be asked here.`, option);
  const secret = await hiddenLine(process.stdin, asker.signal, () => asker.out.writeError(`${question} `));
  asker.out.writeError('\n');
  if (secret === undefined) throw interrupted();
  if (secret.trim() === '') throw usageError('Nothing was given.');
  return secret.trim();
}

/**
 * Reads a line without showing it; undefined when it was interrupted. It asks only when the terminal shows nothing any more:
 * whoever answers at once, as a paste does, would see the answer.
 */
async function hiddenLine(input: ReadStream, signal: AbortSignal, ask: () => void): Promise<string | undefined> {
  const wasRaw = input.isRaw;
  input.setRawMode(true);
  ask();
  input.setEncoding('utf8');
  input.resume();
  try {
    return await new Promise<string | undefined>((resolve) => {
      let line = '';
      const onAbort = (): void => resolve(undefined);
      signal.addEventListener('abort', onAbort, { once: true });
      input.on('end', onAbort);
      input.on('data', (text: string) => {
        for (const character of text.replaceAll('\x1b[200~', '').replaceAll('\x1b[201~', '')) {
          if (character === '\r' || character === '\n') return resolve(line);
          if (character === '\x03') return resolve(undefined);
          if (character === '\x04') return resolve(line === '' ? undefined : line);
          if (character === '\x7f' || character === '\b') line = line.slice(0, -1).replace(/[\ud800-\udbff]$/, '');
          else if (character === '\x15') line = '';
          else if (character >= ' ' && line.length < maxSecretChars) line += character;
        }
      });
    });
  } finally {
    input.removeAllListeners('data');
    input.removeAllListeners('end');
    input.setRawMode(wasRaw);
    input.pause();
  }
}

/** Reads all of stdin as text. */
export const readStdin = async (signal: AbortSignal): Promise<string> =>
  (await readStdinBytes(signal, maxInputBytes, 'What stdin gave is too long.')).toString('utf8');

/** Reads all of stdin; refuses more than `maxBytes` with these words. */
export async function readStdinBytes(signal: AbortSignal, maxBytes: number, tooLong: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  const end = (): void => void process.stdin.destroy();
  signal.addEventListener('abort', end, { once: true });
  try {
    for await (const part of process.stdin as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > maxBytes) throw usageError(tooLong);
      parts.push(Buffer.from(part));
    }
  } finally {
    signal.removeEventListener('abort', end);
  }
  if (signal.aborted) throw interrupted();
  return Buffer.concat(parts);
}
