/**
 * `lodge host`: the operator's commands, on the machine that runs Lodge. They are those of its checkout; `status` alone asks the
 * server.
 */
import { spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { examples } from '../../examples.ts';
import { CommandError, exitCodes } from '../../failure.ts';
import { status } from '../../host/status.ts';
import type { On, Run } from '../../run.ts';

/** Names, what they do, and the script of the checkout. */
const verbs = [
  ['start', 'start the control plane; Ctrl-C stops it, and agents run on', 'scripts/start.sh'],
  ['stop', 'stop all of Lodge: control plane, machines, networks and database; data stays', 'scripts/lodge.sh', 'down'],
  ['doctor', 'show what this machine can do, and what is missing or weak', 'scripts/lodge.sh', 'doctor'],
  ['demo', 'a round without an account at a provider', 'scripts/lodge.sh', 'demo'],
  ['backup', 'copy everything but the master key, sealed, into a place', 'scripts/lodge.sh', 'backup'],
  ['restore', 'bring a backup back, whole or one agent alone', 'scripts/lodge.sh', 'restore'],
  ['install', 'make Lodge a service of systemd', 'scripts/lodge.sh', 'install'],
  ['uninstall', 'take the service away; agents and data stay', 'scripts/lodge.sh', 'uninstall'],
  ['upgrade', 'take a newer release, and go back when it does not come up', 'scripts/lodge.sh', 'upgrade'],
  ['runtimes', 'versions of OpenClaw and Hermes, and updates', 'scripts/lodge.sh', 'runtimes'],
  ['owner-link', 'a new link that makes the first account yours', 'scripts/lodge.sh', 'owner-link'],
  ['reset-password', 'a link to set a new password', 'scripts/lodge.sh', 'reset-password'],
  ['rotate-master-key', 'seal every secret anew under a new master key', 'scripts/lodge.sh', 'rotate-master-key'],
] as const;

/** Where a checkout usually lies. */
const usual = ['/opt/lodge', '/usr/local/lib/lodge'];

export default function host(command: Command, on: On): void {
  command.addHelpText(
    'after',
    '\nAll but status run on the machine of Lodge itself, in its checkout: the folder you are in or one above it, LODGE_CHECKOUT, or /opt/lodge.',
  );
  status(command, on);
  for (const [name, summary, script, verb] of verbs) {
    const each = command
      .command(name)
      .argument('[arguments...]', 'passed on')
      .allowUnknownOption()
      .passThroughOptions()
      .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`);
    examples(each, [`lodge host ${name}`, summary]).action(
      on((run: Run, _options: object, args: readonly string[]) =>
        runScript(run, script, verb === undefined ? args : [verb, ...args]),
      ),
    );
  }
}

async function runScript(run: Run, script: string, args: readonly string[]): Promise<void> {
  const root = await checkoutOf(run.env);
  const child = spawn('bash', [join(root, script), ...args], { cwd: root, env: run.env, stdio: 'inherit' });
  // The terminal tells both of Ctrl-C. The script decides when it ends.
  const code = await run.interrupts.during(
    () => undefined,
    () =>
      new Promise<number>((resolve_, reject) => {
        child.once('error', reject);
        child.once('exit', (exitCode, signal) => resolve_(exitCode ?? (signal === 'SIGINT' ? 130 : 1)));
      }),
  );
  process.exitCode = code;
}

async function checkoutOf(env: NodeJS.ProcessEnv): Promise<string> {
  const named = env['LODGE_CHECKOUT'];
  if (named !== undefined && named !== '') {
    if (await isCheckout(named)) return resolve(named);
    throw new CommandError(exitCodes.usage, 'LODGE_CHECKOUT is no checkout of Lodge.');
  }
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    if ((await isCheckout(folder)) && (await isOurs(folder, env))) return folder;
    if (folder === dirname(folder)) break;
  }
  for (const folder of usual) if ((await isCheckout(folder)) && (await isOurs(folder, env))) return folder;
  throw new CommandError(
    exitCodes.usage,
    'There is no checkout of Lodge here.',
    'Go to its folder on the machine that runs Lodge, or name it in LODGE_CHECKOUT.',
  );
}

/** A folder of somebody else, such as one below /tmp, would run their commands as this user. */
async function isOurs(folder: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const { uid } = await stat(join(folder, 'scripts/lodge.sh'));
  return uid === 0 || uid === process.getuid?.() || String(uid) === env['SUDO_UID'];
}

async function isCheckout(folder: string): Promise<boolean> {
  try {
    const { name } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { readonly name?: unknown };
    await readFile(join(folder, 'scripts/lodge.sh'));
    return name === 'lodge';
  } catch {
    return false;
  }
}
