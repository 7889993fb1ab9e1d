import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { checks } from '../../components/form/checks.ts';
import { CopyField } from '../../components/copy-field.tsx';
import { Dialog, DialogActions } from '../../components/dialogs/dialog.tsx';
import { TextField } from '../../components/form/field.tsx';
import { Form } from '../../components/form/form.tsx';
import { Failure, Notice } from '../../components/notice.tsx';
import { ScopesField, scopesOf } from '../../components/form/scopes-field.tsx';
import { text, useForm } from '../../components/form/use-form.ts';
import { queries } from '../../queries.ts';
import { allScopes } from '../../scopes.ts';
import { useScopes } from '../../session.ts';
import { ExpiryField, expiryOf } from './expiry.tsx';

export function CreateKeyDialog({ onClose }: { onClose: () => void }) {
  const [key, setKey] = useState<string>();
  if (key !== undefined) {
    return (
      <Dialog title="Copy your key now" onClose={onClose} dismissable={false} step="shown">
        <ShownOnce apiKey={key} onClose={onClose} />
      </Dialog>
    );
  }
  return (
    <Dialog title="Create New Key" onClose={onClose} step="form">
      <KeyForm onClose={onClose} onMade={setKey} />
    </Dialog>
  );
}

function check(data: FormData) {
  const problems: { name?: string; scopes?: string; expires_on?: string } = {};
  const name = checks.name(text(data, 'name'));
  if (name !== undefined) problems.name = 'Enter a name, so that you can tell your keys apart.';
  if (scopesOf(data).length === 0) problems.scopes = 'Choose at least one scope.';
  if (expiryOf(data) === 'invalid') problems.expires_on = 'Choose a day after today.';
  return problems;
}

function KeyForm({ onClose, onMade }: { onClose: () => void; onMade: (key: string) => void }) {
  const queryClient = useQueryClient();
  const ofRole = useScopes();
  const form = useForm({
    keep: 'key',
    check,
    send: (data) => {
      const expiry = expiryOf(data);
      return api.createKey({
        name: text(data, 'name').trim(),
        scopes: scopesOf(data),
        ...(expiry instanceof Date ? { expires_at: expiry.toISOString() } : {}),
      });
    },
    done: ({ key }) => {
      onMade(key);
      void queryClient.invalidateQueries(queries.keys);
    },
  });
  return (
    <Form form={form} className="flex flex-col gap-5">
      <Failure error={form.failure} />
      <TextField
        label="Name"
        name="name"
        maxLength={100}
        autoComplete="off"
        data-autofocus=""
        placeholder="Support bot, production"
        error={form.problems.name}
      />
      <ScopesField
        legend="What the key may do"
        offered={allScopes.filter((scope) => ofRole.includes(scope))}
        error={form.problems.scopes}
      />
      <ExpiryField error={form.problems.expires_on} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.pending}>
          Create key
        </Button>
      </DialogActions>
    </Form>
  );
}

function ShownOnce({ apiKey, onClose }: { apiKey: string; onClose: () => void }) {
  const options = useQuery(queries.options);
  return (
    <>
      <Notice kind="warning">
        This is the only time the key is shown. Keep it where secrets belong, such as a password manager.
      </Notice>
      <CopyField label="API key" value={apiKey} autoFocus />
      {options.data !== undefined && (
        <div className="flex flex-col gap-1.5">
          <p className="font-medium">Try it</p>
          <pre
            tabIndex={0}
            aria-label="Example request"
            className="overflow-x-auto rounded-control border border-line bg-sunken p-3 font-mono text-xs leading-5"
          >
            {`curl ${options.data.api_base_url}/agents \\\n  -H "Authorization: Bearer $LODGE_API_KEY"`}
          </pre>
        </div>
      )}
      <DialogActions>
        <Button onClick={onClose}>I have kept it safe</Button>
      </DialogActions>
    </>
  );
}
