/** `lodge providers`. */
import type { Command } from 'commander';
import { examples } from '../../examples.ts';
import type { On } from '../../run.ts';
import { yesNo } from '../../terminal/words.ts';

export default function providers(command: Command, on: On): void {
  examples(command, ['lodge providers', 'list the providers that agents can have keys of']).action(
    on(async (run) => {
      const lodge = await run.anyLodge();
      const found = await lodge.service.providers(run.call);
      run.out.table(found, found.data, [
        { title: 'provider', value: ({ id }) => id, keep: true },
        { title: 'name', value: ({ name }) => name },
        { title: 'needs a key', value: ({ needs_key }) => yesNo(needs_key) },
        { title: 'api', value: ({ apis }) => apis.join(', ') },
        { title: 'models', value: ({ models }) => models.map(({ id }) => id).join(', ') || '-' },
      ]);
    }),
  );
}
