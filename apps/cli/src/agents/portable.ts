/** `lodge agents export` and `import`: an agent as one file. */
import { open, stat } from 'node:fs/promises';
import type { ExportAgent, ImportedAgent } from '@lodge/sdk';
import { exportAgent, importAgent } from '@lodge/sdk/node';
import type { Command } from 'commander';
import { agentOf } from '../agent-of.ts';
import { agentArgument } from '../arguments.ts';
import { examples } from '../examples.ts';
import { usageError } from '../failure.ts';
import type { On, Run } from '../run.ts';
import { readSecret } from '../secrets.ts';
import { withProgress } from '../terminal/progress.ts';
import type { Progress } from '../terminal/progress.ts';
import { quoted, safeLine } from '../terminal/safe.ts';
import { bytes } from '../terminal/words.ts';
import { given } from '../values.ts';
import { agentLine } from './shown.ts';

interface ExportOptions {
  readonly snapshot?: string;
  readonly out?: string;
  readonly passphrase?: string | true;
  readonly wake?: true;
  readonly force?: true;
}

interface ImportOptions {
  readonly name?: string;
  readonly passphrase?: string | true;
  readonly wait: boolean;
}

const passphraseOption = '--passphrase [source]';
const sources = 'asked for, or env:NAME, file:PATH, - for stdin';
/** The beginning of a sealed export. */
const sealedMark = 'LODGE-SEALED-1\n';

export function define(command: Command, on: On): void {
  const exporting = command
    .command('export')
    .argument(...agentArgument)
    .description('Write an agent as one file: settings, members, schedules, home and workspace, without keys.')
    .option('--snapshot <id>', 'a snapshot of the agent, or before_last_turn: `lodge snapshots list` shows them')
    .option('-o, --out <path>', "the file; by default the agent's name in this folder")
    .option(passphraseOption, `seal the file: ${sources}`)
    .option('--wake', 'start the agent where it is stopped')
    .option('--force', 'write over a file that is there');
  examples(
    exporting,
    ['lodge agents export ada --passphrase', 'write ada into ada.lodge, sealed with a passphrase that is asked for'],
    ['lodge agents export ada --snapshot s4k8m2q9t1ab --out old.tar.gz', 'write ada as it was in a snapshot'],
  ).action(on(exported));
  const importing = command
    .command('import')
    .argument('<file>', 'the file of an export')
    .description('Make an agent of the file of an export, and wait until it runs.')
    .option('--name <text>', 'display name; that of the exported agent by default')
    .option(passphraseOption, `open a sealed file: ${sources}`)
    .option('--no-wait', 'return at once, before it runs');
  examples(importing, ['lodge agents import ada.lodge --name twin', 'make another agent of the file']).action(
    on(imported),
  );
}

async function exported(run: Run, options: ExportOptions, meant: string): Promise<void> {
  const { snapshot, wake, force } = options;
  const agent = await agentOf(run, meant);
  const path = options.out ?? `${fileName(agent.name)}${options.passphrase === undefined ? '.tar.gz' : '.lodge'}`;
  if (!force && (await isThere(path))) {
    throw usageError(`There is a file ${quoted(path)} already.`, 'Give --force to write over it.');
  }
  const passphrase = options.passphrase && (await newPassphrase(run, options.passphrase));
  const body: ExportAgent = given({ snapshot, passphrase });
  const lodge = await run.lodge();
  const name = safeLine(agent.name, 60);
  const { size } = await withProgress(run.out, `Exporting ${name}`, (progress) =>
    exportAgent(lodge, agent.id, path, body, { ...run.call, wake, onProgress: tell(progress, `Exporting ${name}`) }),
  );
  run.out.result({ path, bytes: size }, () => `${name} is in ${safeLine(path)} (${bytes(size)}).\n`);
}

async function imported(run: Run, { name, wait, ...options }: ImportOptions, path: string): Promise<void> {
  const sealed = await isSealed(path);
  if (options.passphrase !== undefined && !sealed)
    throw usageError(`${quoted(path)} is not sealed: leave out --passphrase.`);
  const source = options.passphrase ?? (sealed ? true : undefined);
  const passphrase = source && (await askedOr(run, source));
  const lodge = await run.lodge();
  const agent = await withProgress(run.out, `Importing ${safeLine(path, 60)}`, (progress) =>
    importAgent(lodge, path, {
      ...run.call,
      passphrase,
      query: given({ name, wait }),
      onProgress: tell(progress, `Importing ${safeLine(path, 60)}`),
    }),
  );
  run.out.result(agent, () => agentLine(agent));
  if (!run.out.isJson) for (const line of missingOf(agent)) run.out.note(line);
}

/** A line for each kind of thing that is to be given anew. */
function missingOf({ import: { missing } }: ImportedAgent): readonly string[] {
  const kinds = [...new Set(missing.map(({ kind }) => kind))];
  return kinds.map((kind) => {
    const names = missing.filter((each) => each.kind === kind).map(({ name }) => safeLine(name, 60));
    return `Not in the file: ${safeLine(kind.replaceAll('_', ' '))} ${names.join(', ')}`;
  });
}

const askedOr = (run: Run, source: string | true, question = 'Passphrase of the file:'): Promise<string> =>
  readSecret(run, source === true ? undefined : source, question, '--passphrase ');

/** Nobody keeps it, so one that is typed is typed twice. */
async function newPassphrase(run: Run, source: string | true): Promise<string> {
  const passphrase = await askedOr(run, source);
  if (source === true && (await askedOr(run, true, 'The same once more:')) !== passphrase) {
    throw usageError('These are two passphrases. Nothing was exported.');
  }
  return passphrase;
}

const tell =
  (progress: Progress, what: string) =>
  (done: number, all: number | undefined): void =>
    progress.say(`${what}: ${bytes(done)}${all === undefined ? '' : ` of ${bytes(all)}`}`);

/** A name that every system takes, and that leads to no other folder. */
function fileName(name: string): string {
  const plain = name.replaceAll(/[^\p{L}\p{N} ._-]/gu, '_').slice(0, 60);
  return plain.startsWith('.') ? `_${plain}` : plain;
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

async function isSealed(path: string): Promise<boolean> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw usageError(`${quoted(path)} cannot be read: ${error.code}.`);
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(sealedMark.length), 0, sealedMark.length, 0);
    return buffer.toString('latin1', 0, bytesRead) === sealedMark;
  } finally {
    await file.close();
  }
}
