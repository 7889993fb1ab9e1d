import type { Connection } from '@lodge/sdk';
import { useState } from 'react';
import { CheckField } from '../../../components/form/check-field.tsx';
import { PasswordField, TextField } from '../../../components/form/field.tsx';
import type { Problems } from '../../../components/form/use-form.ts';
import { mostSecrets } from './form-data.ts';
import { Rows, useRows } from './rows.tsx';

interface SecretProps {
  readonly connection: Connection | undefined;
  readonly problems: Problems<string>;
}

/** Secrets of hosts: each is a variable in the machine, whose placeholder is replaced in one header. */
export function SecretFields({ connection, problems }: SecretProps) {
  const stored = Object.entries(connection?.secrets ?? {});
  const [replacing, setReplacing] = useState(stored.length === 0);
  const rows = useRows(1, 'secret_name');
  return (
    <>
      {stored.length > 0 && (
        <CheckField
          label="Replace the stored secrets"
          checked={replacing}
          onChange={(event) => setReplacing(event.target.checked)}
          hint={`Stored: ${stored.map(([name, { last4 }]) => `${name} (…${last4})`).join(', ')}. With further hosts they must be given again.`}
        />
      )}
      {replacing && (
        <>
          <input type="hidden" name="replace_secrets" value="yes" />
          <Rows
            legend="Secrets"
            what="secret"
            hint="Kept encrypted on the host, and never shown again. In the machine the variable is a placeholder."
            rows={rows}
            least={1}
            most={mostSecrets}
          >
            {(row, index) => <Secret row={row} index={index} problems={problems} />}
          </Rows>
        </>
      )}
    </>
  );
}

interface RowProps {
  readonly row: number;
  readonly index: number;
  readonly problems: Problems<string>;
}

function Secret({ row, index, problems }: RowProps) {
  const shared = { autoComplete: 'off', spellCheck: false, maxLength: 100 } as const;
  return (
    <div className="grid gap-3 sm:grid-cols-3">
      <TextField
        {...shared}
        label={`Variable of secret ${index + 1}`}
        name={`secret_name_${row}`}
        placeholder="GITHUB_TOKEN"
        error={problems[`secret_name_${row}`]}
      />
      <PasswordField
        label={`Value of secret ${index + 1}`}
        name={`secret_value_${row}`}
        autoComplete="off"
        maxLength={4096}
        error={problems[`secret_value_${row}`]}
      />
      <TextField
        {...shared}
        label={`Header of secret ${index + 1}`}
        name={`secret_header_${row}`}
        defaultValue="authorization"
        error={problems[`secret_header_${row}`]}
      />
    </div>
  );
}
