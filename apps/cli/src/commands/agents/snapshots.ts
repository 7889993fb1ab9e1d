/** `lodge snapshots`: machines of agents as they were. */
import type { Snapshot, SnapshotFile } from '@lodge/sdk';
import type { Command } from 'commander';
import { Option } from 'commander';
import { agentIdOf } from '../../agent-of.ts';
import { agentArgument } from '../../arguments.ts';
import { examples } from '../../examples.ts';
import { usageError } from '../../failure.ts';
import { limitOption, pageOf, showList } from '../../gathered.ts';
import type { ListOptions } from '../../gathered.ts';
import type { On } from '../../run.ts';
import { cell } from '../../terminal/output.ts';
import type { Output } from '../../terminal/output.ts';
import { confirm } from '../../terminal/prompt.ts';
import { safeLine } from '../../terminal/safe.ts';
import { ago, bytes, yesNo } from '../../terminal/words.ts';
import { given } from '../../values.ts';

interface SnapshotSettings {
  readonly name?: string;
  readonly note?: string;
  readonly pinned?: 'yes' | 'no';
  readonly expires?: string;
}

interface RestoreOptions {
  readonly discardPresent?: true;
  readonly diskOnly?: true;
  readonly path?: readonly string[];
}

const snapshotArgument = ['<snapshot>', 'id of the snapshot'] as const;

export default function snapshots(command: Command, on: On): void {
  defineReads(command, on);
  defineFiles(command, on);
  defineWrites(command, on);
}

function defineReads(command: Command, on: On): void {
  const list = command
    .command('list')
    .alias('ls')
    .argument('[agent]', 'id or name of the agent; without it those of all agents')
    .addOption(limitOption())
    .description('List snapshots, newest first.');
  examples(list, ['lodge snapshots list ada', 'show what ada can go back to']).action(
    on(async (run, { limit }: ListOptions, agent: string | undefined) => {
      const lodge = await run.lodge();
      const query = { limit: pageOf(limit) };
      const found =
        agent === undefined
          ? lodge.snapshots.list(query, run.call)
          : lodge.snapshots.agent(await agentIdOf(run, agent), query, run.call);
      await showList<Snapshot>(
        run,
        found,
        limit,
        [
          { title: 'id', value: ({ id }) => id, keep: true },
          { title: 'agent', value: ({ agent_id: id }) => id },
          { title: 'name', value: ({ name }) => name },
          { title: 'kind', value: ({ kind }) => kind },
          { title: 'status', value: ({ status }) => status },
          { title: 'loads', value: ({ loads }) => loads },
          { title: 'size', value: (each) => bytes(each.bytes + each.disk_bytes), align: 'right' },
          { title: 'saved', value: (each) => ago(each.created_at) },
        ],
        'There are no snapshots.',
      );
    }),
  );
  const show = command
    .command('show')
    .argument(...snapshotArgument)
    .description('Show one snapshot.');
  examples(show, ['lodge snapshots show s4k8m2q9t1ab', 'show how it is']).action(
    on(async (run, _options: object, id: string) => {
      const lodge = await run.lodge();
      const found = await lodge.snapshots.get(id, run.call);
      run.out.result(found, () => snapshotFields(run.out, found));
    }),
  );
}

function defineFiles(command: Command, on: On): void {
  const files = command
    .command('files')
    .argument(...snapshotArgument)
    .argument('[path]', 'a folder; the whole workspace otherwise')
    .description('List files that a snapshot has.');
  examples(files, ['lodge snapshots files s4k8m2q9t1ab notes', 'show what lay in the folder notes']).action(
    on(async (run, _options: object, id: string, path = '') => {
      const lodge = await run.lodge();
      await showList<SnapshotFile>(
        run,
        lodge.snapshots.files(id, { path: path as string, limit: 1000 }, run.call),
        100_000,
        [
          { title: 'size', value: ({ type, size }) => (type === 'file' ? bytes(size) : '-'), align: 'right' },
          { title: 'changed', value: ({ modified_at: at }) => ago(at), align: 'right' },
          { title: 'path', value: ({ type, path: at }) => (type === 'directory' ? `${at}/` : at), keep: true },
        ],
        'The folder is empty.',
      );
    }),
  );
  const read = command
    .command('read')
    .argument(...snapshotArgument)
    .argument('<path>', 'a file of the workspace')
    .description('Print a file that a snapshot has.');
  examples(read, ['lodge snapshots read s4k8m2q9t1ab notes/today.md', 'print a file as it was']).action(
    on(async (run, _options: object, id: string, path: string) => {
      const lodge = await run.lodge();
      const content = await lodge.snapshots.read(id, path, run.call);
      const text = await content.text();
      run.out.result({ path, text }, () => text);
    }),
  );
  const diff = command
    .command('diff')
    .argument(...snapshotArgument)
    .argument('[to]', 'another snapshot; the agent as it is otherwise', 'now')
    .description('Show which files of the workspace differ.');
  examples(diff, ['lodge snapshots diff s4k8m2q9t1ab', 'show what the agent did to its files since']).action(
    on(async (run, _options: object, id: string, to: string) => {
      const lodge = await run.lodge();
      const found = await lodge.snapshots.diff(id, { to }, run.call);
      run.out.result(found, () => {
        const lines = found.data.map(({ path, change }) => `${signs[change]} ${safeLine(path, 400)}\n`);
        return `${lines.join('')}${found.truncated ? 'There is more.\n' : ''}` || 'No file differs.\n';
      });
    }),
  );
}

const signs = { added: '+', removed: '-', changed: '~' } as const;

const withSettings = (command: Command): Command =>
  command
    .option('--name <name>', 'a name for it')
    .option('--note <text>', 'a note of your own')
    .addOption(new Option('--pinned <yes or no>', 'whether it outlives its agent').choices(['yes', 'no']))
    .option('--expires <time>', 'when it is deleted, such as 2027-01-31T09:00:00Z');

const settingsOf = ({ name, note, pinned, expires }: SnapshotSettings) =>
  given({ name, note, pinned: pinned === undefined ? undefined : pinned === 'yes', expires_at: expires });

function defineWrites(command: Command, on: On): void {
  const create = withSettings(
    command
      .command('create')
      .argument(...agentArgument)
      .option('--disk-only', 'save the disk alone, without waiting for a turn')
      .description('Save an agent as it is.'),
  );
  examples(create, ['lodge snapshots create ada --name "before the move"', 'save memory and disk of ada']).action(
    on(async (run, options: SnapshotSettings & { readonly diskOnly?: true }, agent: string) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const body = { ...settingsOf(options), ...(options.diskOnly && { memory: false }) };
      const made = await lodge.snapshots.create(id, body, run.call);
      run.out.result(made, () => snapshotFields(run.out, made));
    }),
  );
  defineRestore(command, on);
  const update = withSettings(
    command
      .command('update')
      .argument(...snapshotArgument)
      .description('Change name, note, pin or expiry of a snapshot.'),
  );
  examples(update, ['lodge snapshots update s4k8m2q9t1ab --pinned yes', 'keep it beyond its agent']).action(
    on(async (run, options: SnapshotSettings, id: string) => {
      const body = settingsOf(options);
      if (Object.keys(body).length === 0) throw usageError('Nothing to change was given.');
      const lodge = await run.lodge();
      const changed = await lodge.snapshots.update(id, body, run.call);
      run.out.result(changed, () => snapshotFields(run.out, changed));
    }),
  );
  const remove = command
    .command('delete')
    .alias('rm')
    .argument(...snapshotArgument)
    .description('Delete a snapshot.');
  examples(remove, ['lodge snapshots delete s4k8m2q9t1ab', 'delete it, after a question']).action(
    on(async (run, _options: object, id: string) => {
      if (!run.isYes) await confirm(run, `Delete the snapshot ${safeLine(id)}?`);
      const lodge = await run.lodge();
      const deleted = await lodge.snapshots.delete(id, run.call);
      run.out.result(deleted, () => `Deleted ${safeLine(id)}.\n`);
    }),
  );
}

function defineRestore(command: Command, on: On): void {
  const restore = command
    .command('restore')
    .argument(...agentArgument)
    .argument('<snapshot>', 'id of a snapshot of the agent, or before_last_turn')
    .option('--discard-present', 'do not save the present first')
    .option('--disk-only', 'boot the disk of the snapshot, without its memory')
    .option('--path <path...>', 'copy these files and folders of the workspace alone; the machine goes on')
    .description('Take an agent back to a snapshot; the present is saved first.');
  examples(
    restore,
    ['lodge snapshots restore ada before_last_turn', 'undo the last turn of ada'],
    ['lodge snapshots restore ada s4k8m2q9t1ab --path notes', 'copy the folder notes back, and nothing else'],
  ).action(
    on(async (run, options: RestoreOptions, agent: string, snapshot: string) => {
      const { path: paths } = options;
      if (paths !== undefined && (options.discardPresent || options.diskOnly)) {
        throw usageError('With --path nothing else goes back: leave out --discard-present and --disk-only.');
      }
      const id = await agentIdOf(run, agent);
      if (options.discardPresent && !run.isYes) {
        await confirm(run, `Take ${safeLine(agent)} back to ${safeLine(snapshot)} and lose how it is now?`);
      }
      const lodge = await run.lodge();
      const less = {
        ...(options.discardPresent && { save_present: false }),
        ...(options.diskOnly && { memory: false }),
        ...(paths !== undefined && { paths: [...paths] }),
      };
      const row = await lodge.snapshots.restore(id, { snapshot, ...less }, run.call);
      const does = paths === undefined ? `is ${row.status}` : 'has them as they were';
      run.out.result(row, () => `${safeLine(row.name)} ${does}.\n`);
    }),
  );
}

const snapshotFields = (out: Output, snapshot: Snapshot): string =>
  out.fields([
    ['id', cell(snapshot.id)],
    ['agent', cell(snapshot.agent_id)],
    ['name', cell(snapshot.name)],
    ['note', cell(snapshot.note)],
    ['kind', cell(snapshot.kind)],
    ['status', cell(snapshot.status)],
    ['error', cell(snapshot.error)],
    ['loads', cell(snapshot.loads)],
    ['runtime', cell(`${snapshot.runtime.name} ${snapshot.runtime.version ?? ''}`.trim())],
    ['size', cell(`${snapshot.size}, ${bytes(snapshot.bytes)} of memory, ${bytes(snapshot.disk_bytes)} of disk`)],
    ['pinned', yesNo(snapshot.pinned)],
    ['expires', cell(snapshot.expires_at)],
    ['saved', ago(snapshot.created_at)],
  ]);
