import { SelectField, TextField } from '../../components/form/field.tsx';
import { PairsField } from '../../components/form/pairs-field.tsx';
import { TextAreaField } from '../../components/form/text-area-field.tsx';
import { FormCard } from '../../components/shown/cards.tsx';
import { formatNumber } from '../../format.ts';
import { actionWords } from '../usage/limit-words.ts';
import type { SectionProps } from './draft.ts';
import { bytesOf, maxInstructionBytes } from './draft.ts';

export function NameSection({ draft, set, problems }: SectionProps) {
  return (
    <FormCard title="About">
      <TextField
        label="Name"
        maxLength={100}
        autoComplete="off"
        autoFocus
        placeholder="Support bot"
        value={draft.name}
        onChange={(event) => set({ name: event.target.value })}
        error={problems.name}
      />
      <TextField
        label="Description"
        optional
        maxLength={2000}
        autoComplete="off"
        placeholder="What it is for, for the people who see the list"
        value={draft.description}
        onChange={(event) => set({ description: event.target.value })}
      />
    </FormCard>
  );
}

export function InstructionsSection({ draft, set, problems }: SectionProps) {
  const bytes = bytesOf(draft.instructions);
  return (
    <FormCard title="Instructions" description="Who the agent is and how it works, in your words.">
      <TextAreaField
        label="Instructions"
        optional
        rows={5}
        placeholder="You answer questions of our customers. Be brief and friendly. When you are not sure, say so and ask a colleague."
        value={draft.instructions}
        onChange={(event) => set({ instructions: event.target.value })}
        hint={
          bytes > maxInstructionBytes / 2
            ? `${formatNumber(bytes)} of ${formatNumber(maxInstructionBytes)} bytes`
            : undefined
        }
        error={problems.instructions}
      />
    </FormCard>
  );
}

export function LimitSection({ draft, set, problems }: SectionProps) {
  const amount = (name: 'daily' | 'monthly', label: string) => (
    <TextField
      label={label}
      optional
      inputMode="decimal"
      autoComplete="off"
      maxLength={16}
      placeholder="No limit of its own"
      hint="In US dollars."
      value={draft[name]}
      onChange={(event) => set({ [name]: event.target.value })}
      error={problems[name]}
    />
  );
  const hasLimit = draft.daily.trim() !== '' || draft.monthly.trim() !== '';
  return (
    <FormCard
      title="Spend limit"
      description="The most that its model calls may cost, in days and months of UTC. Under a limit it calls only models with a known price."
    >
      <div className="grid gap-4 sm:grid-cols-2">
        {amount('daily', 'Per day')}
        {amount('monthly', 'Per month')}
      </div>
      {hasLimit && (
        <SelectField
          label="Once a limit is reached"
          value={draft.action}
          onChange={(event) => set({ action: event.target.value === 'pause' ? 'pause' : 'block' })}
        >
          {Object.entries(actionWords).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectField>
      )}
    </FormCard>
  );
}

export function LabelsSection({ draft, set, problems }: SectionProps) {
  return (
    <FormCard title="Labels">
      <PairsField
        legend="Labels"
        isTitled
        noun="label"
        hint="Short pairs to find agents by, such as team = support."
        maxValue={63}
        placeholder={['team', 'support']}
        pairs={draft.labels}
        change={(labels) => set({ labels })}
        error={problems.labels}
      />
    </FormCard>
  );
}
