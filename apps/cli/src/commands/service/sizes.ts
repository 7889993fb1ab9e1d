/** `lodge sizes`. */
import type { Command } from 'commander';
import { examples } from '../../examples.ts';
import type { On } from '../../run.ts';

export default function sizes(command: Command, on: On): void {
  examples(command, ['lodge sizes', 'list sizes of machines']).action(
    on(async (run) => {
      const lodge = await run.anyLodge();
      const found = await lodge.service.sizes(run.call);
      run.out.table(found, found.data, [
        { title: 'size', value: ({ id, default: isDefault }) => (isDefault ? `${id} (default)` : id) },
        { title: 'processors', value: ({ vcpus }) => vcpus, align: 'right' },
        { title: 'memory MB', value: ({ memory_mb }) => memory_mb, align: 'right' },
        { title: 'disk GB', value: ({ disk_gb }) => disk_gb, align: 'right' },
      ]);
    }),
  );
}
