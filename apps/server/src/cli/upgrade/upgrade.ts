/**
 * `upgrade [--to REF | --back] [--checkout FOLDER] [--timeout SECONDS]`: Lodge from the commit that is checked out to another,
 * and back when that does not come up. Agents' machines run all the while: Lodge's next start takes them over.
 *
 *   preparing  the commit checked out beside, with its packages, and loaded. Lodge runs on.
 *   switching  Lodge ends ─> database copied, where migrations differ ─> packages and commit switched
 *   trying     started ─> the API answers: the journal goes, and with it the way back by itself
 *   back       it does not: database, commit and packages of before, started again, the journal goes
 *
 * A kill leaves the journal. The next `upgrade`, or the next start of Lodge (`--unfinished`, by scripts/start.sh), goes back
 * first. Not so while `trying`: Lodge may have served since, and only a start that fails may cost what it wrote.
 *
 * The database goes back before the commit does: the commit may be of a time when nothing knew of journals. This process is
 * of the earlier commit to its end, so it loads nothing late.
 */
import { resolve } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import type { Log } from '@lodge/ports';
import { openStore } from '@lodge/store';
import { allAgents } from '@lodge/store/agents';
import { readConfig } from '../../config/config.ts';
import type { Config } from '../../config/config.ts';
import { exists } from '../../host/files.ts';
import { lockHolder, startTimeOf } from '../../host/instance-lock.ts';
import { CommandError, commandLog, say } from '../command.ts';
import type { Command } from '../command.ts';
import { withDatabase } from '../with-store.ts';
import { Checkout } from './checkout.ts';
import { copyOf, dropCopies, keepDatabase, putDatabaseBack } from './database-copy.ts';
import { isUnderWay, readBefore, readJournal, removeJournal, writeBefore, writeJournal } from './journal.ts';
import type { Journal, JournalSettings } from './journal.ts';
import { runningBy, whatRuns } from './running.ts';
import type { Ran, Running } from './running.ts';

const ownRoot = resolve(import.meta.dirname, '../../../../..');
/** A first start may install packages of the system. */
const defaultTimeoutSeconds = 600;
const maxNamesShown = 20;

interface Work extends Ran {
  /** The configuration in `env`. */
  readonly config: Config;
  readonly log: Log;
  readonly checkout: Checkout;
  readonly timeoutMs: number;
}

/** The database's change on the way to another commit. */
type DatabaseWay = 'stays' | 'migrates' | 'goes back';

export const upgrade: Command = async (args, env) => {
  const { values } = parseArgs({
    args,
    options: {
      to: { type: 'string' },
      back: { type: 'boolean', default: false },
      'lose-newer': { type: 'boolean', default: false },
      checkout: { type: 'string', default: ownRoot },
      timeout: { type: 'string' },
      unfinished: { type: 'boolean', default: false },
    },
  });
  if (values.back && values.to !== undefined) throw new CommandError('Either --to or --back, not both.');
  const timeoutMs = timeoutOf(values.timeout);
  outliveTerminal();
  const checkout = await Checkout.open(resolve(values.checkout));
  const journal = await readJournal(checkout.root);
  if (journal !== null) {
    const cutOff = { config: readConfig(env), env, log: commandLog(env), checkout, timeoutMs, runBy: journal.runBy };
    if (values.unfinished) return finish(cutOff, journal);
    if (await isUnderWay(journal)) throw new CommandError(`Another upgrade is under way (pid ${journal.by.pid}).`);
    return resume(cutOff, journal, values['lose-newer']);
  }
  if (values.unfinished) return 0;
  const ran = await whatRuns(env, checkout.root);
  const work = { config: readConfig(ran.env), log: commandLog(env), checkout, timeoutMs, ...ran };
  await assertCanTry(work.config);
  await checkout.assertClean();
  return values.back ? back(work, values['lose-newer']) : forward(work, values.to);
};

async function forward(work: Work, ref: string | undefined): Promise<number> {
  const { checkout } = work;
  const [from, to] = [await checkout.head(), await checkout.target(ref)];
  if (from === to) {
    say(`${short(from)} is checked out already: there is nothing newer.`);
    return 0;
  }
  return change(work, { from, to, way: (await sameMigrations(checkout, from, to)) ? 'stays' : 'migrates' });
}

/** Goes back to the state before the last `upgrade`. If that changed the database, only with consent to lose newer data. */
async function back(work: Work, losesNewer: boolean): Promise<number> {
  const { config, checkout } = work;
  const from = await checkout.head();
  const before = await readBefore(checkout.root);
  if (before === null || before.next !== from || before.dataDir !== config.dataDir) {
    throw new CommandError(
      `No upgrade has brought ${short(from)} here for ${config.dataDir}, so no way back is known.`,
    );
  }
  const to = before.commit;
  if (await sameMigrations(checkout, from, to)) {
    say(`The database is the same for ${short(to)}: it stays, and nothing is lost.`);
    return change(work, { from, to, way: 'stays' });
  }
  const copy = copyOf(config.dataDir, to);
  if (!before.database || !(await exists(copy))) {
    throw new CommandError(`${short(to)} needs its database of before, and there is no copy in ${copy}.`);
  }
  say(`${short(to)} needs its database of before. It goes back to ${before.leftAt}: what was written since is lost.`);
  const names = await agentsSince(work, new Date(before.leftAt));
  if (names.length > 0) {
    const shown = names.slice(0, maxNamesShown).map((name) => JSON.stringify(name));
    say(`Lost with their machines and disks are ${names.length} agents made since then: ${shown.join(', ')}.`);
  }
  if (!losesNewer) throw new CommandError('Nothing was done. With --back --lose-newer it goes back all the same.');
  return change(work, { from, to, way: 'goes back' });
}

interface Change {
  readonly from: string;
  readonly to: string;
  readonly way: DatabaseWay;
}

async function change(work: Work, { from, to, way }: Change): Promise<number> {
  const { config, checkout, env, timeoutMs, runBy } = work;
  const lodge = runningBy(runBy, checkout.root, env);
  const by = { pid: process.pid, startTime: (await startTimeOf(process.pid)) ?? '' };
  let journal: Journal = {
    version: 1,
    by,
    settings: settingsOf(config),
    from,
    to,
    leftAt: new Date().toISOString(),
    phase: 'preparing',
    runBy,
    database: false,
  };
  const note = async (more: Partial<Journal>): Promise<void> => {
    journal = { ...journal, ...more };
    await writeJournal(checkout.root, journal);
  };
  await note({});
  say(`From ${short(from)} to ${short(to)}: checking it out beside, with its packages. Lodge runs on.`);
  try {
    await checkout.makeTree(to);
    await checkout.assertLoads();
    await note({ phase: 'switching' });
    await lodge.stop();
    await note({ leftAt: new Date().toISOString() });
    if (way !== 'stays') {
      say(`Lodge has ended; agents go on. Copying its database to ${copyOf(config.dataDir, from)}.`);
      await keep(work, from);
      await note({ database: true });
    }
    if (way === 'goes back') await putBack(work, to);
    await checkout.goTo(to);
    await note({ phase: 'trying' });
    say(`Switched to ${short(to)}. Starting it.`);
    await lodge.start(timeoutMs);
  } catch (error) {
    say(`${short(to)} does not come up. ${(error as Error).message}`);
    await takeBack(work, journal, lodge);
    return runOn(lodge, journal, 1);
  }
  await settle(work, journal);
  return runOn(lodge, journal, 0);
}

/** Restores the state before the change, as far as the change came. */
async function takeBack(work: Work, journal: Journal, lodge: Running): Promise<void> {
  const { from, phase, runBy } = journal;
  if (phase === 'preparing') {
    await clear(work);
    say(`Nothing was changed: Lodge is at ${short(from)}.`);
    return;
  }
  say(`Going back to ${short(from)}.`);
  await writeJournal(work.checkout.root, { ...journal, phase: 'back' });
  await lodge.stop();
  await putAllBack(work, journal);
  // A short bound for the tried commit does not apply to one that worked.
  if (runBy !== 'nobody') await lodge.start(Math.max(work.timeoutMs, defaultTimeoutSeconds * 1000));
  const database = journal.database ? ', with the database as it was when Lodge ended' : '';
  say(`Back at ${short(from)}${database}. Agents went on.`);
}

/** Puts everything back while Lodge does not run. */
async function putAllBack(work: Work, { from, database }: Journal): Promise<void> {
  if (database) await putBack(work, from);
  await work.checkout.goBack(from);
  await clear(work);
}

/** A Lodge that runs in this terminal goes on here until it is ended. */
async function runOn(lodge: Running, { runBy, phase }: Journal, exitCode: 0 | 1): Promise<number> {
  if (phase === 'preparing' || runBy === 'systemd') return exitCode;
  if (runBy === 'nobody') {
    await lodge.stop();
    say('It did not run before, so it was ended again. npm start brings it up.');
    return exitCode;
  }
  say('It runs in this terminal now. Ctrl-C ends it; agents go on.');
  return (await lodge.ended()) || exitCode;
}

/**
 * Resumes a killed upgrade: the tried commit is checked, anything else is undone. The tried one may have served for weeks
 * since, so its database is given up only on command.
 */
async function resume(work: Work, journal: Journal, losesNewer: boolean): Promise<number> {
  assertSameSettings(work, journal);
  const { checkout, env, timeoutMs } = work;
  const { from, to, phase, leftAt, database } = journal;
  say(`An upgrade from ${short(from)} to ${short(to)} was cut off.`);
  const lodge = runningBy(journal.runBy, checkout.root, env);
  if (phase === 'trying') {
    try {
      await lodge.start(timeoutMs);
      await settle(work, journal);
      return await runOn(lodge, journal, 0);
    } catch (error) {
      say(`${short(to)} does not come up. ${(error as Error).message}`);
    }
    if (database && !losesNewer) {
      throw new CommandError(
        `${short(from)} needs its database of ${leftAt}: what was written since is lost. upgrade --lose-newer goes back to it.`,
      );
    }
  }
  await takeBack(work, journal, lodge);
  say('Run upgrade again to go on.');
  return runOn(lodge, journal, 1);
}

/** Does the same for a start of Lodge, which then starts the resulting commit. A running upgrade starts it itself. */
async function finish(work: Work, journal: Journal): Promise<number> {
  const { checkout, config } = work;
  const { from, to, phase } = journal;
  if (await isUnderWay(journal)) {
    if (phase === 'preparing' || phase === 'trying') return 0;
    throw new CommandError(`An upgrade is under way (pid ${journal.by.pid}) and starts Lodge itself.`);
  }
  const cutOff = `An upgrade from ${short(from)} to ${short(to)} was cut off`;
  if (phase === 'trying') {
    say(`${cutOff} when ${short(to)} was started: this goes on. npm run lodge -- upgrade settles it, or goes back.`);
    return 0;
  }
  assertSameSettings(work, journal);
  const holder = await lockHolder(config.dataDir);
  if (phase === 'preparing') await clear(work);
  else if (holder !== null) throw new CommandError(`${cutOff}, and Lodge runs (pid ${holder.pid}).`);
  else await putAllBack(work, journal);
  say(`${cutOff}. Lodge is at ${short(await checkout.head())}, as before.`);
  return 0;
}

const settingsOf = ({ dataDir, port, databaseUrl }: Config): JournalSettings => ({
  dataDir,
  port,
  ownDatabase: databaseUrl === null,
});

function assertSameSettings({ config, checkout }: Work, { settings }: Journal): void {
  if (isDeepStrictEqual(settingsOf(config), settings)) return;
  throw new CommandError(
    `An upgrade in ${checkout.root} was cut off, of the Lodge on ${settings.dataDir}. Give npm run lodge -- upgrade its settings (those of a service: set -a; . /etc/lodge.env); it goes back then.`,
  );
}

async function keep({ config, log, checkout }: Work, commit: string): Promise<void> {
  const { folder } = await checkout.migrationsOf(commit);
  const copy = copyOf(config.dataDir, commit);
  await withDatabase(config, log, (url) => keepDatabase(copy, url, folder), { alone: true });
}

async function putBack({ config, log }: Work, commit: string): Promise<void> {
  say('Putting the database back.');
  const copy = copyOf(config.dataDir, commit);
  await withDatabase(config, log, (url) => putDatabaseBack(copy, url), { alone: true });
}

/** Completes the change. */
async function settle({ config, checkout }: Work, { from, to, leftAt, database }: Journal): Promise<void> {
  const { dataDir } = config;
  await writeBefore(checkout.root, { version: 1, dataDir, commit: from, next: to, leftAt, database });
  await removeJournal(checkout.root);
  await dropCopies(dataDir, database ? from : null);
  await checkout.forget();
  say(`Lodge is at ${short(to)}, and its API answers.`);
  if (!database) return;
  const copy = copyOf(dataDir, from);
  say(`The database of before stays in ${copy} until the next upgrade: upgrade --back needs it.`);
}

/** Removes all traces of the change. */
async function clear({ config, checkout }: Work): Promise<void> {
  await removeJournal(checkout.root);
  const before = await readBefore(checkout.root);
  await dropCopies(config.dataDir, before?.database === true ? before.commit : null);
  await checkout.forget();
}

async function sameMigrations(checkout: Checkout, one: string, other: string): Promise<boolean> {
  return (await checkout.migrationsOf(one)).text === (await checkout.migrationsOf(other)).text;
}

async function agentsSince({ config, log }: Work, at: Date): Promise<string[]> {
  return withDatabase(config, log, async (connectionString) => {
    const store = await openStore({ connectionString, log });
    try {
      return (await store.database.repeatable(allAgents))
        .filter(({ createdAt }) => createdAt > at)
        .map(({ name }) => name);
    } finally {
      await store.close();
    }
  });
}

async function assertCanTry({ port, dataDir }: Config): Promise<void> {
  if (!(await exists(dataDir))) {
    throw new CommandError(`Nothing was ever started on ${dataDir}, so git pull is enough here.`);
  }
  if (port !== 0) return;
  throw new CommandError('With LODGE_PORT=0 nobody knows where the API will answer: set a port.');
}

/** A broken connection to the machine must not stop the upgrade half-way. */
function outliveTerminal(): void {
  process.on('SIGHUP', () => undefined);
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

function timeoutOf(text: string | undefined): number {
  if (text === undefined) return defaultTimeoutSeconds * 1000;
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new CommandError(`--timeout is a number of seconds, not ${text}.`);
  return Number(text) * 1000;
}

const short = (commit: string): string => commit.slice(0, 12);
