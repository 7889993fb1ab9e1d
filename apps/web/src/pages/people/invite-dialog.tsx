import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { checkAll, checks } from '../../components/form/checks.ts';
import { CopyField } from '../../components/copy-field.tsx';
import { Dialog, DialogActions } from '../../components/dialogs/dialog.tsx';
import { SelectField, TextField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { Failure, Notice } from '../../components/notice.tsx';
import { text, useForm } from '../../components/form/use-form.ts';
import { queries } from '../../queries.ts';

export function InviteDialog({ onClose }: { onClose: () => void }) {
  const [url, setUrl] = useState<string>();
  if (url !== undefined) {
    return (
      <Dialog title="Send this link" onClose={onClose} dismissable={false} step="link">
        <Notice kind="warning">
          It is shown only now. Lodge does not send it: pass it on yourself, to the right person alone.
        </Notice>
        <CopyField label="Invitation link" value={url} autoFocus />
        <DialogActions>
          <Button onClick={onClose}>Done</Button>
        </DialogActions>
      </Dialog>
    );
  }
  return (
    <Dialog
      title="Invite someone"
      description="Makes a link with which they create an account of their own."
      onClose={onClose}
      step="form"
    >
      <InviteForm onClose={onClose} onMade={setUrl} />
    </Dialog>
  );
}

const check = checkAll({ email: checks.optionalEmail });

function InviteForm({ onClose, onMade }: { onClose: () => void; onMade: (url: string) => void }) {
  const queryClient = useQueryClient();
  const form = useForm({
    keep: 'invite',
    check,
    send: (data) => {
      const email = text(data, 'email').trim();
      const role = text(data, 'role') === 'viewer' ? 'viewer' : 'member';
      return api.invite({ role, ...(email !== '' && { email }) });
    },
    done: ({ url }) => {
      onMade(url);
      void queryClient.invalidateQueries(queries.invitations);
    },
  });
  return (
    <Form form={form} className="flex flex-col gap-5">
      <Failure error={form.failure} />
      <TextField
        label="E-mail"
        optional
        name="email"
        type="email"
        autoComplete="off"
        maxLength={254}
        data-autofocus=""
        hint="Given one, the link makes an account with this address only."
        error={form.problems.email}
      />
      <SelectField
        label="Role"
        name="role"
        defaultValue="member"
        hint="A member has agents and keys of their own. A viewer reads, and changes nothing."
      >
        <option value="member">Member</option>
        <option value="viewer">Viewer</option>
      </SelectField>
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.pending}>
          Make link
        </Button>
      </DialogActions>
    </Form>
  );
}
