import type { ConnectionAllow } from '@lodge/sdk';
import { TextAreaField } from '../../../components/form/text-area-field.tsx';
import type { Problems } from '../../../components/form/use-form.ts';
import { methods, mostAllowed } from './form-data.ts';
import { Rows, useRows } from './rows.tsx';

interface AllowProps {
  readonly allow: readonly ConnectionAllow[];
  readonly problems: Problems<string>;
}

/** The requests that the agent may send to an HTTP service, or to hosts. */
export function AllowFields({ allow, problems }: AllowProps) {
  const rows = useRows(Math.max(1, allow.length), 'paths');
  return (
    <Rows
      legend="What the agent may ask"
      what="rule"
      hint="One rule must name both the method and the path. Nothing else is passed on."
      rows={rows}
      least={1}
      most={mostAllowed}
    >
      {(row) => (
        <div className="flex flex-col gap-3">
          <Methods row={row} chosen={allow[row]?.methods ?? ['GET']} error={problems[`methods_${row}`]} />
          <TextAreaField
            code
            label="Paths"
            name={`paths_${row}`}
            rows={2}
            defaultValue={(allow[row]?.paths ?? []).join('\n')}
            placeholder="/notes/*"
            hint="Below the address or the hosts, one a line: whole, or with /* at the end for all below."
            error={problems[`paths_${row}`]}
            className="min-h-16"
          />
        </div>
      )}
    </Rows>
  );
}

interface MethodsProps {
  readonly row: number;
  readonly chosen: readonly string[];
  readonly error: string | undefined;
}

function Methods({ row, chosen, error }: MethodsProps) {
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="mb-1.5 font-medium">Methods</legend>
      <div className="flex flex-wrap gap-x-4 gap-y-2">
        {methods.map((method) => (
          <label key={method} className="flex cursor-pointer items-center gap-1.5 font-mono text-[0.8125rem]">
            <input
              type="checkbox"
              name={`methods_${row}`}
              value={method}
              defaultChecked={chosen.includes(method)}
              className="size-4 accent-accent"
            />
            {method}
          </label>
        ))}
      </div>
      {error !== undefined && <p className="text-[0.8125rem] text-danger">{error}</p>}
    </fieldset>
  );
}
