/** `lodge sync`: a local folder in an agent's workspace, kept the same while somebody works on it. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { agentIdOf } from '../../agent-of.ts';
import { agentArgument } from '../../arguments.ts';
import { configFolder } from '../../context/folder.ts';
import { examples } from '../../examples.ts';
import { CommandError, exitCodes, usageError } from '../../failure.ts';
import { withoutSlashes } from '../../files/place.ts';
import type { On, Run } from '../../run.ts';
import { quoted } from '../../terminal/safe.ts';

interface Options {
  readonly delete?: true;
  readonly force?: true;
  readonly once?: true;
}

export default function sync(command: Command, on: On): void {
  command
    .argument(...agentArgument)
    .argument('<folder>', 'a local folder')
    .argument('[path]', 'a folder of the workspace; the workspace itself otherwise')
    .option('--delete', 'delete there what is not here, after a question')
    .option('--force', 'write over what somebody else has changed there')
    .option('--once', 'end when both are the same')
    .addHelpText(
      'after',
      '\nChanges go from here to the workspace. What the agent has changed there is never written over: it is named,\n' +
        'and left. `.gitignore` and `.lodgeignore` say what is left out, and so is `.git`.',
    );
  examples(
    command,
    ['lodge sync ada . site', 'keep the folder site as this one'],
    ['lodge sync ada notes notes --once --delete --yes', 'make both the same, and end'],
  ).action(on(syncFolder));
}

async function syncFolder(run: Run, options: Options, agent: string, local: string, remote = ''): Promise<void> {
  const folder = resolve(local);
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) throw usageError(`${quoted(local)} is no folder.`);
  const [{ ignoredOf }, { Memory }, { Remote }, { Sync }] = await Promise.all([
    import('../../sync/ignored.ts'),
    import('../../sync/memory.ts'),
    import('../../sync/remote.ts'),
    import('../../sync/sync.ts'),
  ]);
  const id = await agentIdOf(run, agent);
  const path = withoutSlashes(remote);
  const { url } = await run.choice();
  const memory = await Memory.open(configFolder(run.env), [url, id, path, folder]);
  const there = new Remote(run, await run.lodge(), id, path, memory.etags);
  const work = new Sync(run, folder, there, await ignoredOf(folder), {
    isDeleting: options.delete === true,
    isForced: options.force === true,
  });
  try {
    await work.begin();
    if (!options.once) await work.watch();
  } finally {
    await memory.save();
  }
  if (options.once && work.conflicts > 0)
    throw new CommandError(exitCodes.conflict, `${work.conflicts} files were left.`, '`--force` writes over them.');
}
