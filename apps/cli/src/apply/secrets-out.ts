/**
 * The file that gets what the server shows once: addresses of hooks, and signing secrets of webhooks. Each entry is written
 * before the next thing is made, by a file of its own that takes the place of the one before.
 */
import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { usageError } from '../failure.ts';
import { quoted } from '../terminal/safe.ts';

const maxBytes = 16 * 1024 * 1024;

export interface SecretEntry {
  readonly kind: 'hook' | 'webhook';
  readonly agent?: string;
  readonly agent_id?: string;
  readonly id: string;
  readonly name?: string;
  readonly url: string;
  readonly secret?: string;
  readonly created_at: string;
}

export class SecretsOut {
  readonly #path: string;
  #entries: readonly unknown[];
  #last: Promise<void> = Promise.resolve();

  private constructor(path: string, entries: readonly unknown[]) {
    this.#path = path;
    this.#entries = entries;
  }

  /** Opens the file, and finds out before anything is made whether it can be written. */
  static async open(path: string): Promise<SecretsOut> {
    const full = resolve(path);
    const out = new SecretsOut(full, await entriesIn(full));
    const probe = join(dirname(full), `.${randomBytes(6).toString('hex')}.tmp`);
    try {
      await (await open(probe, 'wx', 0o600)).close();
      await rm(probe);
    } catch (error) {
      throw usageError(`${quoted(path)} cannot be written: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}.`);
    }
    return out;
  }

  add(entry: SecretEntry): Promise<void> {
    const written = this.#last.then(async () => {
      const entries = [...this.#entries, entry];
      await replace(this.#path, `${JSON.stringify(entries, null, 2)}\n`);
      this.#entries = entries;
    });
    this.#last = written.catch(() => undefined);
    return written;
  }
}

async function entriesIn(path: string): Promise<readonly unknown[]> {
  const found = await stat(path).catch(() => null);
  if (found === null) return [];
  if (!found.isFile() || found.size > maxBytes) throw usageError(`${quoted(path)} is no file of secrets.`);
  try {
    const value: unknown = JSON.parse((await readFile(path, 'utf8')) || '[]');
    if (Array.isArray(value)) return value;
  } catch {
    // It says so below.
  }
  throw usageError(`${quoted(path)} is no file of secrets.`, 'Name a new file, or one that an earlier apply wrote.');
}

async function replace(path: string, text: string): Promise<void> {
  const made = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  const file = await open(made, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(made, path);
}
