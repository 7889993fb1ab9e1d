import type { Credentials, SessionBody } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { checkAll, checks } from '../../components/form/checks.ts';
import { PasswordField, TextField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { Failure } from '../../components/notice.tsx';
import { text, useForm } from '../../components/form/use-form.ts';
import { useEnter } from '../../session.ts';

interface NewAccountProps {
  /** The e-mail from the link, which cannot be changed. */
  readonly email: string | null;
  readonly action: string;
  readonly send: (credentials: Credentials) => Promise<SessionBody>;
}

const check = checkAll({ name: checks.name, email: checks.email, password: checks.newPassword });
export const passwordHint = 'At least 12 characters. A few unrelated words are easy to remember and hard to guess.';

/** Asks for name, e-mail and password, and leads into the account area. */
export function NewAccountForm({ email, action, send }: NewAccountProps) {
  const enter = useEnter();
  const form = useForm({
    check,
    send: (data) =>
      send({
        name: text(data, 'name').trim(),
        email: text(data, 'email').trim(),
        password: text(data, 'password'),
      }),
    done: (session) => enter(session),
  });
  return (
    <Form form={form} className="flex flex-col gap-4">
      <Failure error={form.failure} />
      <TextField label="Your name" name="name" autoComplete="name" maxLength={100} error={form.problems.name} />
      <TextField
        label="E-mail"
        name="email"
        type="email"
        autoComplete="username"
        maxLength={254}
        defaultValue={email ?? ''}
        readOnly={email !== null}
        error={form.problems.email}
      />
      <PasswordField
        label="Password"
        name="password"
        autoComplete="new-password"
        hint={passwordHint}
        error={form.problems.password}
      />
      <Button type="submit" variant="primary" pending={form.pending} className="mt-2">
        {action}
      </Button>
    </Form>
  );
}
