import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { againInWords, checkAll, checks } from '../../components/form/checks.ts';
import { Dialog, DialogActions } from '../../components/dialogs/dialog.tsx';
import { PasswordField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { Failure } from '../../components/notice.tsx';
import { Section } from '../../components/page.tsx';
import { toast } from '../../components/toasts/toasts.tsx';
import { text, useForm } from '../../components/form/use-form.ts';
import { queries } from '../../queries.ts';
import { useAccount } from '../../session.ts';

export function PasswordSection() {
  const account = useAccount();
  const [changing, setChanging] = useState(false);
  return (
    <Section title="Sign-in" actions={<Button onClick={() => setChanging(true)}>Change password</Button>}>
      <dl className="grid gap-x-6 gap-y-3 px-5 py-4 sm:grid-cols-[8rem_1fr] sm:px-6">
        <dt className="text-muted">E-mail</dt>
        <dd className="break-all max-sm:-mt-2.5">{account.email}</dd>
        <dt className="text-muted">Password</dt>
        <dd className="max-sm:-mt-2.5">Set. Changing it signs you out everywhere else.</dd>
      </dl>
      {changing && <PasswordDialog onClose={() => setChanging(false)} />}
    </Section>
  );
}

const check = checkAll({ current_password: checks.password, new_password: checks.newPassword });

function PasswordDialog({ onClose }: { onClose: () => void }) {
  const queryClient = useQueryClient();
  const account = useAccount();
  const form = useForm({
    check,
    send: (data) =>
      api.changePassword({
        current_password: text(data, 'current_password'),
        new_password: text(data, 'new_password'),
      }),
    done: (session) => {
      queryClient.setQueryData(queries.session.queryKey, session);
      void queryClient.invalidateQueries(queries.sessions);
      onClose();
      toast('Password changed. All other sessions have ended.');
    },
  });
  return (
    <Dialog title="Change password" description="Ends all sessions but this one." onClose={onClose}>
      <Form form={form} className="flex flex-col gap-4">
        <Failure error={form.failure} here={againInWords} />
        <input type="email" autoComplete="username" value={account.email ?? ''} readOnly hidden />
        <PasswordField
          label="Current password"
          name="current_password"
          autoComplete="current-password"
          data-autofocus=""
          error={form.problems.current_password}
        />
        <PasswordField
          label="New password"
          name="new_password"
          autoComplete="new-password"
          hint="At least 12 characters."
          error={form.problems.new_password}
        />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" pending={form.pending}>
            Change password
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
