import { Dialog } from '../../components/dialogs/dialog.tsx';
import { shortcuts } from './shortcuts.ts';

export function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" description="They work while nothing is being typed." onClose={onClose}>
      <dl className="grid grid-cols-[1fr_auto] items-center gap-x-6 gap-y-2.5">
        {shortcuts.map(({ keys, does }) => (
          <div key={keys} className="col-span-2 grid grid-cols-subgrid items-center">
            <dt>{does}</dt>
            <dd className="flex justify-end gap-1">
              {keys.split(' ').map((key) => (
                <kbd
                  key={key}
                  className="min-w-6 rounded border border-line bg-sunken px-1.5 py-0.5 text-center font-mono text-xs"
                >
                  {key}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
