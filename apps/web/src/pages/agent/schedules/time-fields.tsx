import { useState } from 'react';
import { SelectField, TextField } from '../../../components/form/field.tsx';
import type { Problems } from '../../../components/form/use-form.ts';
import { hereZone, zones } from './times.ts';
import type { TimeKind, TimeName, Times } from './times.ts';

const kindLabels: Readonly<Record<TimeKind, string>> = {
  daily: 'Every day',
  weekdays: 'Weekdays, Monday to Friday',
  weekly: 'On days of the week',
  monthly: 'On a day of the month',
  every: 'At an interval',
  once: 'Once',
  cron: 'By a cron expression',
};

const days = [
  ['1', 'Mon'],
  ['2', 'Tue'],
  ['3', 'Wed'],
  ['4', 'Thu'],
  ['5', 'Fri'],
  ['6', 'Sat'],
  ['0', 'Sun'],
] as const;

interface TimeFieldsProps {
  readonly times: Times;
  readonly zone: string;
  readonly problems: Problems<TimeName>;
}

/** When a schedule runs, from plain choices. */
export function TimeFields({ times, zone, problems }: TimeFieldsProps) {
  const [kind, setKind] = useState(times.kind);
  const hasClock = kind !== 'every' && kind !== 'once';
  return (
    <>
      <div className="grid gap-5 sm:grid-cols-2">
        <SelectField
          label="When"
          name="kind"
          value={kind}
          onChange={(event) => setKind(event.target.value as TimeKind)}
        >
          {Object.entries(kindLabels).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectField>
        <Moment kind={kind} times={times} problems={problems} />
      </div>
      {kind === 'weekly' && <DaysField chosen={times.days} error={problems.days} />}
      {hasClock ? (
        <SelectField label="Time zone" name="time_zone" defaultValue={zone} hint="Summer time is kept by itself.">
          {(zones.includes(zone) ? zones : [zone, ...zones]).map((name) => (
            <option key={name} value={name}>
              {name === hereZone ? `${name} (yours)` : name}
            </option>
          ))}
        </SelectField>
      ) : (
        <input type="hidden" name="time_zone" value={zone} />
      )}
    </>
  );
}

function Moment({ kind, times, problems }: Omit<TimeFieldsProps, 'zone'> & { readonly kind: TimeKind }) {
  switch (kind) {
    case 'every':
      return <Interval times={times} error={problems.count} />;
    case 'once':
      return (
        <TextField
          label="Date and time"
          name="at"
          type="datetime-local"
          defaultValue={times.at}
          hint={`In your zone, ${hereZone}.`}
          error={problems.at}
        />
      );
    case 'cron':
      return (
        <TextField
          label="Cron expression"
          name="cron"
          maxLength={100}
          autoComplete="off"
          spellCheck={false}
          defaultValue={times.cron}
          hint="Minute, hour, day of month, month, day of week."
          className="font-mono"
          error={problems.cron}
        />
      );
    case 'monthly':
      return (
        <div className="grid grid-cols-2 gap-3">
          <TextField
            label="Day"
            name="month_day"
            inputMode="numeric"
            maxLength={2}
            defaultValue={times.monthDay}
            error={problems.month_day}
          />
          <TextField label="Time" name="time" type="time" defaultValue={times.time} error={problems.time} />
        </div>
      );
    case 'daily':
    case 'weekdays':
    case 'weekly':
      return <TextField label="Time" name="time" type="time" defaultValue={times.time} error={problems.time} />;
  }
}

function DaysField({ chosen, error }: { readonly chosen: readonly string[]; readonly error: string | undefined }) {
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="mb-1.5 font-medium">Days</legend>
      <div className="flex flex-wrap gap-2">
        {days.map(([value, label]) => (
          <label
            key={value}
            className="flex cursor-pointer items-center gap-2 rounded-control border border-line px-3 py-1.5 has-checked:border-accent has-checked:bg-accent-soft"
          >
            <input
              type="checkbox"
              name="days"
              value={value}
              defaultChecked={chosen.includes(value)}
              className="size-4 accent-accent"
            />
            {label}
          </label>
        ))}
      </div>
      {error !== undefined && <p className="text-[0.8125rem] text-danger">{error}</p>}
    </fieldset>
  );
}

function Interval({ times, error }: { readonly times: Times; readonly error: string | undefined }) {
  return (
    <div className="grid grid-cols-2 gap-3">
      <TextField
        label="Every"
        name="count"
        inputMode="numeric"
        maxLength={6}
        defaultValue={times.count}
        error={error}
      />
      <SelectField label="Unit" name="unit" defaultValue={times.unit}>
        <option value="m">minutes</option>
        <option value="h">hours</option>
        <option value="d">days</option>
      </SelectField>
    </div>
  );
}
