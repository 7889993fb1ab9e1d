import { CopyField } from '../../../components/copy-field.tsx';
import { ShownOnceDialog } from '../../../components/shown/shown-once.tsx';
import type { MadeHook } from './hook-form.tsx';

/** The address of a new hook and its secret, which are shown this once. */
export function MadeDialog({ made, onClose }: { readonly made: MadeHook; readonly onClose: () => void }) {
  const { hook, secret } = made;
  return (
    <ShownOnceDialog
      title={secret === undefined ? 'Copy the address now' : 'Copy the address and the secret now'}
      warning="This is the only time that they are shown. The address holds the hook’s token: keep it out of logs and chats."
      onClose={onClose}
    >
      <CopyField label="Address of the hook" value={hook.url} autoFocus />
      {secret !== undefined && <CopyField label="Secret that both share" value={secret} />}
      <p className="text-muted">
        Enter it at the sender, with the content type <code className="font-mono">application/json</code>
        {secret === undefined ? '.' : ' and the secret.'}
      </p>
    </ShownOnceDialog>
  );
}
