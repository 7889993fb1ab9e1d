import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { againInWords, checkAll, checks } from '../../components/form/checks.ts';
import { Dialog, DialogActions } from '../../components/dialogs/dialog.tsx';
import { PasswordField, TextField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { Failure } from '../../components/notice.tsx';
import { Section } from '../../components/page.tsx';
import { toast } from '../../components/toasts/toasts.tsx';
import { text, useForm } from '../../components/form/use-form.ts';
import { queries } from '../../queries.ts';
import { useAccount } from '../../session.ts';
import { SecondFactorSetup } from './second-factor-setup.tsx';

export function SecondFactorSection() {
  const { totp_enabled: on } = useAccount();
  const [dialog, setDialog] = useState<'set-up' | 'turn-off'>();
  const close = (): void => setDialog(undefined);
  return (
    <Section
      title="Second factor"
      description="A code from an authenticator app on your phone, asked for after your password."
      actions={
        on ? (
          <Button onClick={() => setDialog('turn-off')}>Turn off</Button>
        ) : (
          <Button onClick={() => setDialog('set-up')}>Set up</Button>
        )
      }
    >
      <div className="flex items-baseline gap-3 px-5 py-4 sm:px-6">
        {on ? <Badge tone="good">On</Badge> : <Badge tone="quiet">Off</Badge>}
        <span className="text-muted">
          {on
            ? 'Lost your phone? Sign in with one of your recovery codes.'
            : 'Whoever learns your password can sign in with it alone.'}
        </span>
      </div>
      {dialog === 'set-up' && <SecondFactorSetup onClose={close} />}
      {dialog === 'turn-off' && <TurnOffDialog onClose={close} />}
    </Section>
  );
}

const check = checkAll({ password: checks.password, code: checks.code });

function TurnOffDialog({ onClose }: { onClose: () => void }) {
  const queryClient = useQueryClient();
  const form = useForm({
    check,
    send: (data) => api.removeTotp({ password: text(data, 'password'), code: text(data, 'code').trim() }),
    done: async () => {
      onClose();
      toast('The second factor is off.');
      await queryClient.invalidateQueries(queries.session);
    },
  });
  return (
    <Dialog
      title="Turn off the second factor?"
      description="Your password alone will be enough to sign in. Your recovery codes stop working."
      onClose={onClose}
    >
      <Form form={form} className="flex flex-col gap-4">
        <Failure error={form.failure} here={againInWords} />
        <PasswordField
          label="Password"
          name="password"
          autoComplete="current-password"
          data-autofocus=""
          error={form.problems.password}
        />
        <TextField
          label="Code"
          name="code"
          autoComplete="one-time-code"
          maxLength={64}
          hint="From your authenticator app, or a recovery code."
          error={form.problems.code}
          className="font-mono"
        />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="danger" pending={form.pending}>
            Turn off
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
