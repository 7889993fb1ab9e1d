import { useState } from 'react';
import { SelectField, TextField } from '../../components/form/field.tsx';
import { text } from '../../components/form/use-form.ts';
import { formatDate } from '../../format.ts';

const choices = [
  { value: 'never', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'day', label: 'On a day I choose' },
] as const;

const dayMs = 24 * 3600 * 1000;

/** Returns the expiry from a key's form: `never`, or the end of the chosen day here. */
export function expiryOf(data: FormData): Date | 'never' | 'invalid' {
  const choice = text(data, 'expiry');
  if (choice === 'never') return 'never';
  if (choice !== 'day') return new Date(Date.now() + Number(choice) * dayMs);
  const end = new Date(`${text(data, 'expires_on')}T23:59:59`);
  return end.getTime() > Date.now() ? end : 'invalid';
}

function tomorrow(): string {
  const day = new Date(Date.now() + dayMs);
  const [month, date] = [day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, '0'));
  return `${day.getFullYear()}-${month}-${date}`;
}

export function ExpiryField({ error }: { error: string | undefined }) {
  const [choice, setChoice] = useState<string>('never');
  const days = Number(choice);
  const hint = Number.isNaN(days)
    ? choice === 'never' && 'The key works until you revoke it.'
    : `Works until ${formatDate(new Date(Date.now() + days * dayMs))}.`;
  return (
    <div className="flex flex-col gap-3">
      <SelectField
        label="Expires"
        name="expiry"
        value={choice}
        onChange={(event) => setChoice(event.target.value)}
        {...(hint === false ? {} : { hint })}
      >
        {choices.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </SelectField>
      {choice === 'day' && (
        <TextField
          label="Last day"
          name="expires_on"
          type="date"
          min={tomorrow()}
          error={error}
          hint="Works until the end of this day."
        />
      )}
    </div>
  );
}
