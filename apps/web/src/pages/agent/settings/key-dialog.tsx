import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Agent } from '@lodge/sdk';
import { change, lodge } from '../../../api.ts';
import { Button } from '../../../components/button.tsx';
import { checkAll } from '../../../components/form/checks.ts';
import { Dialog, DialogActions } from '../../../components/dialogs/dialog.tsx';
import { PasswordField, SelectField } from '../../../components/form/field.tsx';
import { Form } from '../../../components/form/form.tsx';
import { Failure } from '../../../components/notice.tsx';
import { text, useForm } from '../../../components/form/use-form.ts';
import { providersQuery } from '../../create/queries.ts';

interface KeyDialogProps {
  readonly agent: Agent;
  /** Null: any. */
  readonly provider: string | null;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

function keyProblem(typed: string): string | undefined {
  const key = typed.trim();
  if (key === '') return 'Enter the key.';
  return /^[\u0021-\u007e]+$/.test(key) ? undefined : 'A key has no spaces and no special letters.';
}

/** Sets a provider's key, in place of the one there is. Once it is saved the provider is asked about it. */
export function KeyDialog({ agent, provider: given, onClose, onSaved }: KeyDialogProps) {
  const client = useQueryClient();
  const providers = useQuery(providersQuery);
  const [chosen, setChosen] = useState(given ?? agent.model.split('/', 1)[0] ?? '');
  const list = providers.data ?? [];
  const provider = list.find(({ id }) => id === chosen) ?? list[0];
  const name = provider?.name ?? chosen;
  const isThere = agent.llm_keys.some((key) => key.provider === provider?.id);
  const form = useForm({
    check: checkAll({ key: keyProblem }),
    send: (data) =>
      change(() =>
        lodge.agents.update(agent.id, {
          llm_keys: [{ provider: provider?.id ?? chosen, api_key: text(data, 'key').trim() }],
        }),
      ),
    done: async () => {
      await client.invalidateQueries({ queryKey: ['agent', agent.id] });
      onClose();
      onSaved();
    },
  });
  return (
    <Dialog title={given === null ? 'Add a key' : `Replace the key of ${name}`} onClose={onClose}>
      <Form form={form} className="flex flex-col gap-4">
        <Failure error={form.failure} />
        {given === null && (
          <SelectField
            label="Provider"
            data-autofocus=""
            value={provider?.id ?? ''}
            onChange={(event) => setChosen(event.target.value)}
            hint={isThere ? 'It has a key of this provider already: yours takes its place.' : undefined}
          >
            {list.map(({ id, name: each }) => (
              <option key={id} value={id}>
                {each}
              </option>
            ))}
          </SelectField>
        )}
        <PasswordField
          label="API key"
          name="key"
          autoComplete="off"
          maxLength={2048}
          {...(given !== null && { 'data-autofocus': '' })}
          hint="It is kept encrypted and never shown again. Then its provider is asked whether it works."
          error={form.problems.key}
        />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" pending={form.pending}>
            Save key
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
