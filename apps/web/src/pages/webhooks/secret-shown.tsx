import { CopyField } from '../../components/copy-field.tsx';
import { ShownOnceDialog } from '../../components/shown/shown-once.tsx';

/** A new secret, this once. */
export function SecretShown({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <ShownOnceDialog
      title="Copy the secret now"
      warning="This is the only time the secret is shown. Your server checks with it that a request is Lodge’s."
      onClose={onClose}
    >
      <CopyField label="Signing secret" value={secret} autoFocus />
    </ShownOnceDialog>
  );
}
