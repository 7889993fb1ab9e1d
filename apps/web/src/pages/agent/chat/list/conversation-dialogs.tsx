import { Button } from '../../../../components/button.tsx';
import { Dialog, DialogActions } from '../../../../components/dialogs/dialog.tsx';
import { TextField } from '../../../../components/form/field.tsx';
import type { Conversation } from '../conversation.ts';

interface ChangeProps {
  readonly of: Conversation;
  readonly onClose: () => void;
}

export function RenameDialog({ of, onClose, onName }: ChangeProps & { onName: (name: string) => void }) {
  return (
    <Dialog title="Rename conversation" onClose={onClose}>
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          const name = new FormData(event.currentTarget).get('name');
          if (typeof name === 'string' && name.trim() !== '') onName(name.trim());
          onClose();
        }}
      >
        <TextField label="Name" name="name" defaultValue={of.name} maxLength={100} data-autofocus required />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit">
            Rename
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

export function RemoveDialog({ of, onClose, onRemove }: ChangeProps & { onRemove: () => void }) {
  return (
    <Dialog title={`Remove “${of.name.slice(0, 60)}”?`} onClose={onClose}>
      <p className="text-muted">
        It is removed from this browser. What the agent remembers of it, and the files of its workspace, stay.
      </p>
      <DialogActions>
        <Button data-autofocus onClick={onClose}>
          Cancel
        </Button>
        <Button
          variant="danger"
          onClick={() => {
            onClose();
            onRemove();
          }}
        >
          Remove
        </Button>
      </DialogActions>
    </Dialog>
  );
}
