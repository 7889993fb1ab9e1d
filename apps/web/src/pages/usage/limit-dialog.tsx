import { useQueryClient } from '@tanstack/react-query';
import type { ComponentProps } from 'react';
import { api } from '../../api.ts';
import type { SpendLimit } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { checkAll, checks } from '../../components/form/checks.ts';
import { Dialog, DialogActions } from '../../components/dialogs/dialog.tsx';
import { SelectField, TextField } from '../../components/form/field.tsx';
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

/** Reads the form. With both amounts empty the account has no limit of its own. */
function limitOf(data: FormData): SpendLimit | null {
  const amount = (name: string): string | null => text(data, name).trim() || null;
  const [daily, monthly] = [amount('daily_usd'), amount('monthly_usd')];
  if (daily === null && monthly === null) return null;
  return { daily_usd: daily, monthly_usd: monthly, action: text(data, 'action') === 'pause' ? 'pause' : 'block' };
}

/** Lets an owner set the limit of an account's agents together. */
export function LimitDialog({ account: { id, name }, limit, onClose }: LimitDialogProps) {
  const queryClient = useQueryClient();
  return (
    <LimitForm
      title={`Limits of ${name}`}
      description="For the model calls of all agents of this account together, in days and months of UTC. A change holds from the next call on."
      none="An empty amount is no limit. With both empty, what this Lodge is configured with holds."
      limit={limit}
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
  readonly limit: SpendLimit | null;
  readonly send: (limit: SpendLimit | null) => Promise<unknown>;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** A dialog that sets a limit, of an account or of one agent. */
export function LimitForm({ title, description, none, limit, send, onDone, onClose }: LimitFormProps) {
  const form = useForm({ check, send: (data) => send(limitOf(data)), done: onDone });
  return (
    <Dialog title={title} description={description} onClose={onClose}>
      <form {...form.props} className="flex flex-col gap-4">
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
      </form>
    </Dialog>
  );
}

function AmountField(props: ComponentProps<typeof TextField>) {
  return <TextField inputMode="decimal" autoComplete="off" maxLength={16} hint="In US dollars." {...props} />;
}
