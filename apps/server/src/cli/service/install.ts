/**
 * `install [--print]` and `uninstall`: Lodge as a service of systemd. Both may be repeated. Neither replaces or removes
 * another's files: a unit of that name without Lodge's first line is left alone.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, lstat, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { ifThere } from '@lodge/domain';
import { exists } from '../../host/files.ts';
import { strangerOf, strangerWithin } from '../../host/ownership.ts';
import { environmentFile, toRoot, unitFile, unitName } from '../../host/service-files.ts';
import { CommandError, say } from '../command.ts';
import type { Command } from '../command.ts';
import { unitMark, unitText } from './unit.ts';

const run = promisify(execFile);
/** This folder exists if systemd has started the machine (sd_booted(3)). */
const bootedMark = '/run/systemd/system';
const root = resolve(import.meta.dirname, '../../../../..');

export const install: Command = async (args, env) => {
  const { values } = parseArgs({ args, options: { print: { type: 'boolean', default: false } } });
  const text = await textFor(env);
  if (values.print) {
    process.stdout.write(text);
    return 0;
  }
  await assertSystemd();
  const there = await unitThere();
  await tellOwner(env);
  await closeEnvironment();
  if (there === text) say(`${unitFile} is there already.`);
  else {
    await writeFile(`${unitFile}.new`, text, { mode: 0o644 });
    await rename(`${unitFile}.new`, unitFile);
    say(`Wrote ${unitFile}.`);
  }
  await systemctl('daemon-reload');
  await systemctl('enable', unitName);
  say(`Lodge starts with this machine. Settings go into ${environmentFile}, NAME=value, mode 0600.`);
  say(`Start it now: systemctl start lodge. What it says: journalctl -u lodge.`);
  return 0;
};

export const uninstall: Command = async (args) => {
  parseArgs({ args, options: {} });
  await assertSystemd();
  if ((await unitThere()) === null) {
    say(`There is no ${unitFile}.`);
    return 0;
  }
  await systemctl('disable', '--now', unitName);
  await rm(unitFile);
  await systemctl('daemon-reload');
  say(`Removed ${unitFile}. Agents' machines go on; npm run down ends them too. All data stays.`);
  return 0;
};

async function textFor(env: NodeJS.ProcessEnv): Promise<string> {
  const programs = await programsIn(env);
  try {
    return unitText({ root, environmentFile, programs });
  } catch (error) {
    throw new CommandError((error as Error).message, { cause: error });
  }
}

/** The folder of the host's npm, which set-up runs as root: the first on the path that only root can write. */
async function programsIn(env: NodeJS.ProcessEnv): Promise<string> {
  const folders = (env['PATH'] ?? '').split(':').filter((folder) => folder.startsWith('/'));
  const withNpm = folders.filter((folder) => existsSync(join(folder, 'npm')));
  for (const folder of withNpm) if ((await strangerOf(join(folder, 'npm'))) === null) return folder;
  if (withNpm.length > 0)
    warn(
      `npm is in ${withNpm[0]} alone, which is not root's, so the service does not look there. Install npm for all users.`,
    );
  return '/usr/bin';
}

/** Logs that the owner of the service's files is root, because an administrator may have meant their own account. */
async function tellOwner({ LODGE_DATA_DIR, LODGE_CACHE_DIR }: NodeJS.ProcessEnv): Promise<void> {
  const data = [LODGE_DATA_DIR, LODGE_CACHE_DIR].filter((folder) => folder !== undefined);
  const stranger = await strangerWithin(root, '/', data);
  if (stranger === null) return;
  warn(`${stranger.path} is ${stranger.who}'s to change, who thereby is root. ${toRoot(root)}`);
}

/** The file holds credentials, so only root may read it. */
async function closeEnvironment(): Promise<void> {
  const there = await lstat(environmentFile).catch(() => null);
  if (!there?.isFile() || (there.uid === 0 && (there.mode & 0o077) === 0)) return;
  await chown(environmentFile, 0, 0);
  await chmod(environmentFile, 0o600);
  say(`${environmentFile} was open to others: it is root's now, mode 0600.`);
}

const warn = (text: string): void => void process.stderr.write(`Warning: ${text}\n`);

async function assertSystemd(): Promise<void> {
  if (!(await exists(bootedMark))) {
    throw new CommandError(
      `systemd does not run this machine (there is no ${bootedMark}), so nothing was changed. --print shows the unit; elsewhere run npm start under the service manager there is.`,
    );
  }
  if (process.geteuid?.() !== 0) throw new CommandError('A service of the system is root’s to install.');
}

/** The unit's text; null if there is none. Rejects if Lodge did not write it. */
async function unitThere(): Promise<string | null> {
  const text = await ifThere(readFile(unitFile, 'utf8'));
  if (text !== null && !text.startsWith(unitMark)) {
    throw new CommandError(
      `${unitFile} was not written by this command, so it is left as it is. Move it to ${join('/root', unitName)} or remove it first.`,
    );
  }
  return text;
}

async function systemctl(...args: string[]): Promise<void> {
  await run('systemctl', args).catch((error: Error & { stderr?: string }) => {
    throw new CommandError(`systemctl ${args.join(' ')} failed: ${error.stderr?.trim() || error.message}`, {
      cause: error,
    });
  });
}
