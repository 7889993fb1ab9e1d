/** `lodge context`: deployments of Lodge under names. */
import type { Command } from 'commander';
import { placeOf } from '../../context/choice.ts';
import { checkedName, checkedUrl, contextNamed, readConfig, writeConfig } from '../../context/config.ts';
import { forgetKey } from '../../context/keys.ts';
import { examples } from '../../examples.ts';
import { usageError } from '../../failure.ts';
import type { On } from '../../run.ts';
import { confirm } from '../../terminal/prompt.ts';

export default function context(command: Command, on: On): void {
  list(command, on);
  use(command, on);
  add(command, on);
  remove(command, on);
}

function list(command: Command, on: On): void {
  const made = command.command('list').alias('ls').description('List the contexts. A star marks the current one.');
  examples(made, ['lodge context list', 'show where commands go']).action(
    on(async (run, options) => {
      const config = await readConfig(run.env);
      const current = placeOf(config, run.env, options).name;
      const rows = Object.entries(config.contexts).map(([name, { url, key }]) => ({
        name,
        url,
        key,
        current: name === current,
      }));
      run.out.table(
        { data: rows },
        rows,
        [
          { title: '', value: ({ current }) => (current ? '*' : ' ') },
          { title: 'name', value: ({ name }) => name, keep: true },
          { title: 'address', value: ({ url }) => url },
          { title: 'key', value: ({ key }) => key },
        ],
        'There is no context. `lodge login` makes one.',
      );
    }),
  );
}

function use(command: Command, on: On): void {
  const made = command.command('use').argument('<context>', 'its name').description('Use this context from now on.');
  examples(made, ['lodge context use work', 'speak to the deployment named work from now on']).action(
    on(async (run, _options: object, name: string) => {
      const config = await readConfig(run.env);
      const { url } = contextNamed(config, name);
      await writeConfig(run.env, { ...config, current: name });
      run.out.result({ name, url, current: true }, () => `Commands go to ${name} (${url}).\n`);
    }),
  );
}

function add(command: Command, on: On): void {
  const made = command
    .command('add')
    .argument('<context>', 'a name of your choice')
    .argument('<address>', 'the address of the deployment')
    .description('Add a context without signing in. `lodge login` does both.');
  examples(made, ['lodge context add work https://lodge.example.com', 'add a deployment']).action(
    on(async (run, _options: object, given: string, address: string) => {
      const name = checkedName(given);
      const url = checkedUrl(address, 'ADDRESS');
      const config = await readConfig(run.env);
      if (Object.hasOwn(config.contexts, name))
        throw usageError(`There is a context ${name} already.`, `Remove it first: \`lodge context remove ${name}\`.`);
      const contexts = { ...config.contexts, [name]: { url, key: 'none' as const, isOwn: false } };
      await writeConfig(run.env, { current: config.current ?? name, contexts });
      run.out.result({ name, url, current: config.current === null }, () => `Added ${name} (${url}).\n`);
      run.out.note(`Sign in with \`lodge login --context ${name}\`.`);
    }),
  );
}

function remove(command: Command, on: On): void {
  const made = command
    .command('remove')
    .alias('rm')
    .argument('<context>', 'its name')
    .description('Remove a context and its key from this machine. The key itself stays valid.');
  examples(made, ['lodge context remove work', 'forget a deployment']).action(
    on(async (run, _options: object, name: string) => {
      const config = await readConfig(run.env);
      const context = contextNamed(config, name);
      if (!run.isYes) await confirm(run, `Remove the context ${name} (${context.url}) and its key?`);
      await forgetKey(run.env, name, context);
      const { [name]: _removed, ...contexts } = config.contexts;
      await writeConfig(run.env, { current: config.current === name ? null : config.current, contexts });
      run.out.result({ name, removed: true }, () => `Removed ${name}.\n`);
    }),
  );
}
