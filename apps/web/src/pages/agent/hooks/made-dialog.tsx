import type { CreatedHook } from '@lodge/sdk';
import { CopyField } from '../../../components/copy-field.tsx';
import { ShownOnceDialog } from '../../../components/shown/shown-once.tsx';

/** The address of a new hook, which is shown this once. */
export function MadeDialog({ hook, onClose }: { readonly hook: CreatedHook; readonly onClose: () => void }) {
  return (
    <ShownOnceDialog
      title="Copy the address now"
      warning="This is the only time the address is shown. It holds the hook’s token: keep it out of logs and chats."
      onClose={onClose}
    >
      <CopyField label="Address of the hook" value={hook.url} autoFocus />
      <p className="text-muted">
        Enter it at the sender, with the content type <code className="font-mono">application/json</code>
        {hook.signature === undefined ? '.' : ' and the secret that you gave.'}
      </p>
    </ShownOnceDialog>
  );
}
