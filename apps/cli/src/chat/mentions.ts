/** `@file` in a message: the file goes into the agent's workspace, and the message names it there. */
import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { randomBytes } from 'node:crypto';
import { usageError } from '../failure.ts';
import type { Run } from '../run.ts';
import { withProgress } from '../terminal/progress.ts';
import { quoted, safeLine } from '../terminal/safe.ts';
import { bytes } from '../terminal/words.ts';

/** The largest file that the API takes. */
const maxFileBytes = 64 * 1024 * 1024;
const maxFiles = 20;
const maxNameBytes = 120;

interface Mention {
  /** The mention as it stands in the message. */
  readonly written: string;
  readonly path: string;
}

/** Uploads the files that a message mentions, and returns the message with their names in the workspace. */
export async function withUploads(run: Run, agentId: string, message: string): Promise<string> {
  const mentions = await mentionsIn(message);
  if (mentions.length === 0) return message;
  if (mentions.length > maxFiles) throw usageError(`A message can bring ${maxFiles} files at most.`);
  const folder = `uploads/${randomBytes(4).toString('hex')}`;
  const lodge = await run.lodge();
  let text = message;
  for (const [at, { written, path }] of mentions.entries()) {
    const target = `${folder}/${at === 0 ? '' : `${at + 1}-`}${safeName(basename(path))}`;
    const blob = await openAsBlob(path);
    if (blob.size > maxFileBytes) throw usageError(`${quoted(path)} is larger than ${bytes(maxFileBytes)}.`);
    await withProgress(run.out, `Uploading ${safeLine(basename(path), 60)} (${bytes(blob.size)})`, () =>
      lodge.files.write(agentId, target, blob, run.call),
    );
    text = text.replaceAll(written, () => `/workspace/${target}`);
  }
  return text;
}

/** Finds mentions of files that are there. Any other word with an @ is left as it is. */
async function mentionsIn(message: string): Promise<Mention[]> {
  const found = new Map<string, Mention>();
  for (const word of message.split(/\s/)) {
    if (!word.startsWith('@') || word.length < 2) continue;
    // A sentence may end behind the name.
    for (const written of [word, word.replace(/[.,;:!?)]{1,3}$/, '')]) {
      const path = written.slice(1);
      if (found.has(written) || path === '' || !(await isFile(path))) continue;
      found.set(written, { written, path });
      break;
    }
  }
  // A longer mention first: it may begin with a shorter one.
  return [...found.values()].sort((a, b) => b.written.length - a.written.length);
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );

/** Returns a name that a folder of the workspace takes, and that is one word in a message. */
function safeName(name: string): string {
  let made = '';
  for (const character of name.toWellFormed()) {
    const plain = /[\p{L}\p{N}._-]/u.test(character) ? character : '_';
    if (Buffer.byteLength(made + plain) > maxNameBytes) break;
    made += plain;
  }
  return made.startsWith('.') || made === '' ? `_${made}` : made;
}
