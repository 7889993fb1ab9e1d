/**
 * How a relay process runs: as a separate user, in a box that shows it the program, its libraries and the files that the
 * network needs (`box.py`), within a control group, and with Node's own permissions. It ends with the process that starts
 * it.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ControlGroup } from '../control-group.ts';
import type { User } from '../control-user.ts';
import { freedMemory } from '../freed-memory.ts';
import type { RelayCommand } from './door.ts';

/** Environment variables that a process needs; the environment may hold others that it must not have. */
const passedOn = ['TZ', 'LANG', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'];
const certificateVariables = ['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'];

const checkout = join(import.meta.dirname, '../../../../..');
const relayEntry = fileURLToPath(new URL('../../relay/main.ts', import.meta.url));
const box = join(import.meta.dirname, 'box.py');

/** The folders of a program and its modules, without other files of a checkout. */
const programFolders = ['apps', 'packages', 'node_modules', 'package.json'].map((name) => join(checkout, name));
/** Libraries, name resolution, certificate authorities and time zones. */
const systemFiles = [
  '/lib',
  '/lib64',
  '/usr/lib',
  '/usr/lib64',
  '/etc/resolv.conf',
  '/etc/hosts',
  '/etc/nsswitch.conf',
  '/etc/host.conf',
  '/etc/gai.conf',
  '/etc/ssl',
  '/etc/pki',
  '/etc/ca-certificates',
  '/usr/share/ca-certificates',
  '/usr/local/share/ca-certificates',
  '/etc/localtime',
  '/usr/share/zoneinfo',
];

// A TLS connection makes many short-lived objects; without this V8 keeps twice the memory (benchmarks/results, Telegram).
const nodeOptions = ['--max-semi-space-size=4'];
/** It writes no file, starts no process and loads no native module. A thread reads mail. */
const permissions = ['--permission', '--allow-fs-read=*', '--allow-worker', '--disable-warning=PERM0006'];

const environmentOf = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(passedOn.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
  ...freedMemory,
});

/** Runs as this process' user, without a box, if this process cannot become another user. */
export const plainCommand = (env: NodeJS.ProcessEnv, entry = relayEntry): RelayCommand => ({
  argv: [process.execPath, ...nodeOptions, ...permissions, entry],
  env: environmentOf(env),
});

export interface BoxOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly user: User;
  readonly group: Pick<ControlGroup, 'through'>;
  /** An empty folder of root's, over which each box mounts its own file system. */
  readonly root: string;
  /** By default the product's. */
  readonly entry?: string;
}

/** Root runs it. */
export function boxedCommand({ env, user, group, root, entry }: BoxOptions): RelayCommand {
  const { argv: command, env: passed } = plainCommand(env, entry);
  const named = certificateVariables.flatMap((name) => env[name] ?? []);
  const shown = [...programFolders, process.execPath, ...systemFiles, ...named];
  const { uid, gid } = user;
  const namespaces = ['--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child=KILL', '--ipc', '--uts'];
  // Python runs with its own library alone, and ignores the environment.
  const enter = ['/usr/bin/python3', '-I', '-S', box, JSON.stringify({ root, shown, uid, gid, command })];
  const argv = [...group.through, 'setpriv', '--pdeathsig=KILL', '--', 'unshare', ...namespaces, '--', ...enter];
  return { argv: argv as [string, ...string[]], env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...passed } };
}
