/**
 * The state of an upgrade, in `<checkout>/.upgrade/journal.json`: the next `upgrade` or the next start of Lodge detects a
 * kill by it. It exists from the first to the last step, and is replaced before each step that it announces.
 */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ifThere } from '@lodge/domain';
import { syncFolder } from '../../host/files.ts';
import type { ProcessMark } from '../../host/instance-lock.ts';
import { startTimeOf } from '../../host/instance-lock.ts';

/** The keeper of the Lodge that ran before: systemd, a person who typed `npm start`, or nobody if none ran. */
export type RunBy = 'systemd' | 'hand' | 'nobody';

export interface Journal {
  readonly version: 1;
  /** The upgrade itself. */
  readonly by: ProcessMark;
  /** Settings of the Lodge; going back needs the same ones. */
  readonly settings: JournalSettings;
  /** Commits. */
  readonly from: string;
  readonly to: string;
  /** The same as in `Before`. */
  readonly leftAt: string;
  /** `preparing`: nothing of Lodge has changed. `switching`: Lodge is down. `trying`: the other commit is started. `back`: it is undone. */
  readonly phase: 'preparing' | 'switching' | 'trying' | 'back';
  readonly runBy: RunBy;
  /** Whether the copy of the database of `from` is whole. Only then is the database written. */
  readonly database: boolean;
}

export interface JournalSettings {
  readonly dataDir: string;
  readonly port: number;
  readonly ownDatabase: boolean;
}

/** The state before the present commit, in `<checkout>/.upgrade/before.json`. */
export interface Before {
  readonly version: 1;
  readonly dataDir: string;
  readonly commit: string;
  /** The commit that came after it. */
  readonly next: string;
  /** When its Lodge had ended, ISO 8601: before its database was copied. */
  readonly leftAt: string;
  /** Whether its database was copied, because the present commit has other migrations. */
  readonly database: boolean;
}

export const upgradeFolder = '.upgrade';
const journalIn = (root: string): string => join(root, upgradeFolder, 'journal.json');
const beforeIn = (root: string): string => join(root, upgradeFolder, 'before.json');

export const readJournal = (root: string): Promise<Journal | null> => readJson<Journal>(journalIn(root));
export const writeJournal = (root: string, journal: Journal): Promise<void> => replaceJson(journalIn(root), journal);
export const removeJournal = (root: string): Promise<void> => rm(journalIn(root), { force: true });
export const readBefore = (root: string): Promise<Before | null> => readJson<Before>(beforeIn(root));
export const writeBefore = (root: string, before: Before): Promise<void> => replaceJson(beforeIn(root), before);

/** Whether the upgrade that wrote it is still running. */
export async function isUnderWay({ by }: Journal): Promise<boolean> {
  return (await startTimeOf(by.pid)) === by.startTime;
}

async function readJson<T>(path: string): Promise<T | null> {
  const text = await ifThere(readFile(path, 'utf8'));
  return text === null ? null : (JSON.parse(text) as T);
}

/** The file is on the disk before it resolves. */
async function replaceJson(path: string, value: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.new`, `${JSON.stringify(value)}\n`, { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
  await syncFolder(dirname(path));
}
