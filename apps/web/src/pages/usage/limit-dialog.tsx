import { useQueryClient } from '@tanstack/react-query';
import type { ComponentProps } from 'react';
import { api } from '../../api.ts';
import type { SpendLimit } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { checkAll, checks } from '../../components/form/checks.ts';
import { Dialog, DialogActions } from '../../components/dialogs/dialog.tsx';
import { SelectField, TextField } from '../../components/form/field.tsx';
import { changedParts } from '../../components/form/changed.ts';
import { Form } from '../../components/form/form.tsx';
import { Failure } from '../../components/notice.tsx';
import { toast } from '../../components/toasts/toasts.tsx';
import { text, useForm } from '../../components/form/use-form.ts';
import { queries } from '../../queries.ts';
import { actionWords } from './limit-words.ts';

interface LimitDialogProps {
  readonly account: { readonly id: string; readonly name: string };
  /** The account's own limit; null while the deployment's applies. */
  readonly limit: SpendLimit | null;
  readonly onClose: () => void;
}

const check = checkAll({ daily_usd: checks.optionalUsd, monthly_usd: checks.optionalUsd });

/** The name under which the text of the dialog is kept, by the id of the account or agent. */
export const limitDraft = (id: string): string => `limit:${id}`;

function fieldsOf(data: FormData): SpendLimit {
  const amount = (name: string): string | null => text(data, name).trim() || null;
  return {
    daily_usd: amount('daily_usd'),
    monthly_usd: amount('monthly_usd'),
    action: text(data, 'action') === 'pause' ? 'pause' : 'block',
  };
}

/** The limit as it is now, with what changed in the form. With both amounts empty there is none. */
function limitOf(now: SpendLimit | null, before: FormData, data: FormData): SpendLimit | null {
  const limit = { ...(now ?? fieldsOf(new FormData())), ...changedParts(fieldsOf(before), fieldsOf(data)) };
  return limit.daily_usd === null && limit.monthly_usd === null ? null : limit;
}

/** Lets an owner set the limit of an account's agents together. */
export function LimitDialog({ account: { id, name }, limit, onClose }: LimitDialogProps) {
  const queryClient = useQueryClient();
  return (
    <LimitForm
      title={`Limits of ${name}`}
      description="For the model calls of all agents of this account together, in days and months of UTC. A change holds from the next call on."
      none="An empty amount is no limit. With both empty, what this Lodge is configured with holds."
      id={id}
      limit={limit}
      now={async () => (await api.people()).find((one) => one.id === id)?.spend_limit ?? null}
      send={(chosen) => api.setSpendLimit(id, chosen)}
      onDone={() => {
        onClose();
        toast(`The limits of ${name} are changed.`);
        void queryClient.invalidateQueries(queries.spend);
        void queryClient.invalidateQueries(queries.people);
      }}
      onClose={onClose}
    />
  );
}

interface LimitFormProps {
  readonly title: string;
  readonly description: string;
  /** The rule that holds without amounts. */
  readonly none: string;
  readonly id: string;
  readonly limit: SpendLimit | null;
  /** Reads what holds now: somebody else may have changed it. */
  readonly now: () => Promise<SpendLimit | null>;
  readonly send: (limit: SpendLimit | null) => Promise<unknown>;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** A dialog that sets a limit, of an account or of one agent. */
export function LimitForm({ title, description, none, id, limit, now, send, onDone, onClose }: LimitFormProps) {
  const form = useForm({
    keep: limitDraft(id),
    check,
    send: async (data, before) => send(limitOf(await now(), before, data)),
    done: onDone,
  });
  return (
    <Dialog title={title} description={description} onClose={onClose}>
      <Form form={form} className="flex flex-col gap-4">
        <Failure error={form.failure} />
        <div className="grid gap-4 sm:grid-cols-2">
          <AmountField
            label="Daily limit"
            name="daily_usd"
            data-autofocus=""
            defaultValue={limit?.daily_usd ?? ''}
            error={form.problems.daily_usd}
          />
          <AmountField
            label="Monthly limit"
            name="monthly_usd"
            defaultValue={limit?.monthly_usd ?? ''}
            error={form.problems.monthly_usd}
          />
        </div>
        <SelectField label="Once a limit is reached" name="action" defaultValue={limit?.action ?? 'block'}>
          {Object.entries(actionWords).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectField>
        <p className="text-[0.8125rem] text-muted">{none}</p>
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" pending={form.pending}>
            Save limits
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

function AmountField(props: ComponentProps<typeof TextField>) {
  return <TextField inputMode="decimal" autoComplete="off" maxLength={16} hint="In US dollars." {...props} />;
}
