/**
 * The database at the time when a commit was left, in `<data folder>/before-upgrade/<commit>`, for root alone: the rows of
 * each table as text, and the migrations that they were made after. It exists whole or not at all. Values that are sealed in
 * the database stay sealed; nothing else is, because the copy lies beside the database itself.
 */
import { createReadStream } from 'node:fs';
import { cp, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dumpDatabase, replaceDatabase } from '@lodge/store';
import type { DatabaseFacts, TableText } from '@lodge/store';
import { CommandError } from '../command.ts';

const folderName = 'before-upgrade';
const factsName = 'facts.json';
const migrationsName = 'migrations';

interface Kept {
  readonly facts: DatabaseFacts;
  /** Names of tables, in the order of their files. */
  readonly tables: readonly string[];
}

export const copyOf = (dataDir: string, commit: string): string => join(dataDir, folderName, commit);

/** `migrations` is the folder with those of the commit. */
export async function keepDatabase(folder: string, connectionString: string, migrations: string): Promise<void> {
  const draft = `${folder}.new`;
  for (const path of [draft, folder]) await rm(path, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  const tables: string[] = [];
  const facts = await dumpDatabase({ connectionString }, async (table, rows) => {
    await writeRows(join(draft, String(tables.length)), rows);
    tables.push(table);
  });
  await cp(migrations, join(draft, migrationsName), { recursive: true });
  const kept: Kept = { facts, tables };
  await writeFile(join(draft, factsName), JSON.stringify(kept), { mode: 0o600, flush: true });
  await rename(draft, folder);
}

/** Writes in one transaction, so it may be repeated after a kill. */
export async function putDatabaseBack(folder: string, connectionString: string): Promise<void> {
  const text = await readFile(join(folder, factsName), 'utf8').catch((error: Error) => {
    throw new CommandError(`The copy of the database is not in ${folder}.`, { cause: error });
  });
  const { facts, tables } = JSON.parse(text) as Kept;
  const read = (table: string): TableText =>
    createReadStream(join(folder, String(tables.indexOf(table))), { encoding: 'utf8' });
  await replaceDatabase({ connectionString }, facts, read, join(folder, migrationsName));
}

/** Removes all copies except that of one commit. */
export async function dropCopies(dataDir: string, butOf: string | null): Promise<void> {
  const folder = join(dataDir, folderName);
  const names = await readdir(folder).catch(() => []);
  for (const name of names) if (name !== butOf) await rm(join(folder, name), { recursive: true, force: true });
  if (butOf === null) await rm(folder, { recursive: true, force: true });
}

async function writeRows(path: string, rows: TableText): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const piece of rows) await file.write(piece);
    await file.sync();
  } finally {
    await file.close();
  }
}
