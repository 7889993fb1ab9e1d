/** Lodge's commands beside the control plane itself. scripts/lodge.sh runs this file. */
import { VmError } from '@lodge/ports';
import { ConfigError } from '../config/config.ts';
import { nearest } from '../config/nearest.ts';
import { CommandError } from './command.ts';
import type { Command } from './command.ts';

/** Commands are loaded when they run: `stub-llm` needs nothing of the modules of `doctor`. */
const commands: Readonly<Record<string, { readonly summary: string; readonly load: () => Promise<Command> }>> = {
  doctor: {
    summary: 'says what this machine can do and what it lacks (--json for programs)',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  down: {
    summary: 'stops everything of this Lodge: control plane, virtual machines, networks, database; keeps all data',
    load: async () => (await import('./down.ts')).down,
  },
  demo: {
    summary: 'a whole round without a provider account: an agent is made, chats, works, and is taken away again',
    load: async () => (await import('./demo/demo.ts')).demo,
  },
  backup: {
    summary:
      'everything but the master key, sealed, into a place (PLACE; --keep POLICY, --with-key FILE); check and list look at what is there',
    load: async () => (await import('./backup/backup.ts')).backup,
  },
  restore: {
    summary:
      'a backup into an empty data folder, or one agent as a new one (PLACE; --backup NAME, --key FILE, --agent ID)',
    load: async () => (await import('./backup/restore.ts')).restore,
  },
  install: {
    summary: 'Lodge as a service of systemd, which starts with the machine (--print shows the unit alone)',
    load: async () => (await import('./service/install.ts')).install,
  },
  uninstall: {
    summary: 'takes the service away again; agents and data stay',
    load: async () => (await import('./service/install.ts')).uninstall,
  },
  upgrade: {
    summary: 'a newer release, and back when it does not come up; agents run on (--to REF, --back, --timeout SECONDS)',
    load: async () => (await import('./upgrade/upgrade.ts')).upgrade,
  },
  'owner-link': {
    summary: 'a new link to make the first account yours, with an e-mail and a password',
    load: async () => (await import('./owner-link.ts')).ownerLink,
  },
  'reset-password': {
    summary: 'a link to set a new password (EMAIL; --remove-second-factor takes that off too)',
    load: async () => (await import('./reset-password.ts')).resetPassword,
  },
  runtimes: {
    summary: 'versions of the agent runtimes: what is installed and what there is (update, use, remove)',
    load: async () => (await import('./runtimes.ts')).runtimes,
  },
  'rotate-master-key': {
    summary: 'seals every secret anew under a new master key; goes on where it was cut off',
    load: async () => (await import('./rotate-master-key.ts')).rotateMasterKeyCommand,
  },
  'stub-llm': {
    summary: 'a stub LLM provider on this machine, to try Lodge with (--port, --host)',
    load: async () => (await import('./stub-llm.ts')).stubLlm,
  },
};

const [name = 'help', ...args] = process.argv.slice(2);
const command = commands[name];
if (name === 'help' || name === '--help' || name === '-h') {
  process.stdout.write(usage());
} else if (command === undefined) {
  const known = Object.keys(commands);
  process.stderr.write(`There is no command ${name}; did you mean ${nearest(name, known)}?\n\n${usage()}`);
  process.exitCode = 2;
} else {
  try {
    process.exitCode = await (await command.load())(args, process.env);
  } catch (error) {
    const exitCode = exitCodeOf(error);
    if (exitCode === null) throw error;
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = exitCode;
  }
}

function usage(): string {
  const lines = Object.entries(commands).map(([key, { summary }]) => `  ${key.padEnd(17)} ${summary}`);
  return `scripts/lodge.sh COMMAND\n${lines.join('\n')}\n`;
}

/** 2 for wrong input or settings, 1 for work that could not be done; null for a bug of Lodge's, which shows its stack. */
function exitCodeOf(error: unknown): 1 | 2 | null {
  if (error instanceof ConfigError) return 2;
  if (error instanceof CommandError || error instanceof VmError) return 1;
  const code = error instanceof TypeError ? (error as NodeJS.ErrnoException).code : undefined;
  return code?.startsWith('ERR_PARSE_ARGS') === true ? 2 : null;
}
