import type { Connection } from '@lodge/sdk';
import { useState } from 'react';
import { ChoiceField } from '../../../components/form/choice-field.tsx';
import { CheckField } from '../../../components/form/check-field.tsx';
import { PasswordField, TextField } from '../../../components/form/field.tsx';
import type { Problems } from '../../../components/form/use-form.ts';
import { mostHeaders } from './form-data.ts';
import type { AuthKind } from './form-data.ts';
import { Rows, useRows } from './rows.tsx';
import { SecretFields } from './secret-fields.tsx';

interface AccessProps {
  readonly kind: Connection['kind'];
  readonly connection: Connection | undefined;
  readonly problems: Problems<string>;
}

/** Fixed credentials of a kind. */
const fixedOf = (kind: Connection['kind']): AuthKind => (kind === 'host' ? 'secrets' : 'headers');

const begunWith = (kind: Connection['kind'], connection: Connection | undefined): AuthKind => {
  if (connection === undefined) return fixedOf(kind);
  if (connection.auth !== null) return 'oauth';
  return Object.keys({ ...connection.headers, ...connection.secrets }).length > 0 ? fixedOf(kind) : 'none';
};

/** How the host gets in: by headers that it adds, by secrets that it fills in, or by a consent. */
export function AccessFields({ kind, connection, problems }: AccessProps) {
  const [auth, setAuth] = useState<AuthKind>(() => begunWith(kind, connection));
  return (
    <>
      <ChoiceField<AuthKind>
        legend="Access"
        name="auth"
        value={auth}
        onChoose={setAuth}
        choices={[
          kind === 'host'
            ? { value: 'secrets', label: 'By secrets', meaning: 'Programs have placeholders in variables.' }
            : { value: 'headers', label: 'By headers', meaning: 'Such as Authorization, with a token that you have.' },
          { value: 'oauth', label: 'By OAuth', meaning: 'Somebody consents in a browser, and Lodge renews it.' },
          { value: 'none', label: 'Open to all', meaning: 'The server asks for nothing.' },
        ]}
      />
      {auth === 'headers' && <HeaderFields connection={connection} problems={problems} />}
      {auth === 'secrets' && <SecretFields connection={connection} problems={problems} />}
      {auth === 'oauth' && <OAuthFields kind={kind} auth={connection?.auth ?? null} problems={problems} />}
    </>
  );
}

function HeaderFields({ connection, problems }: Omit<AccessProps, 'kind'>) {
  const stored = Object.entries(connection?.headers ?? {});
  const [replacing, setReplacing] = useState(stored.length === 0);
  const rows = useRows(1, 'header_name');
  return (
    <>
      {stored.length > 0 && (
        <CheckField
          label="Replace the stored headers"
          checked={replacing}
          onChange={(event) => setReplacing(event.target.checked)}
          hint={`Stored: ${stored.map(([name, { last4 }]) => `${name} (…${last4})`).join(', ')}. With another address they must be given again.`}
        />
      )}
      {replacing && (
        <>
          <input type="hidden" name="replace_headers" value="yes" />
          <Rows
            legend="Headers"
            what="header"
            hint="Kept encrypted on the host, added to each request, and never shown again."
            rows={rows}
            least={1}
            most={mostHeaders}
          >
            {(row, index) => (
              <div className="grid gap-3 sm:grid-cols-[minmax(0,2fr)_minmax(0,3fr)]">
                <TextField
                  label={`Name of header ${index + 1}`}
                  name={`header_name_${row}`}
                  autoComplete="off"
                  spellCheck={false}
                  maxLength={100}
                  defaultValue={row === 0 ? 'Authorization' : ''}
                  error={problems[`header_name_${row}`]}
                />
                <PasswordField
                  label={`Value of header ${index + 1}`}
                  name={`header_value_${row}`}
                  autoComplete="off"
                  maxLength={4096}
                  placeholder={row === 0 ? 'Bearer …' : undefined}
                  error={problems[`header_value_${row}`]}
                />
              </div>
            )}
          </Rows>
        </>
      )}
    </>
  );
}

interface OAuthProps extends Pick<AccessProps, 'kind' | 'problems'> {
  readonly auth: Connection['auth'];
}

function OAuthFields({ kind, auth, problems }: OAuthProps) {
  const isNamed = kind !== 'mcp';
  return (
    <>
      {isNamed && <NamedServerFields auth={auth} problems={problems} />}
      <TextField
        label="Client id"
        optional={!isNamed}
        name="client_id"
        autoComplete="off"
        spellCheck={false}
        maxLength={512}
        defaultValue={auth?.client_id ?? ''}
        hint={`Of a client that you made at the authorization server.${isNamed ? '' : ' Left empty, one is registered by itself.'}`}
        error={problems['client_id']}
      />
      <PasswordField
        label="Client secret"
        name="client_secret"
        autoComplete="off"
        maxLength={512}
        placeholder={auth?.client_secret == null ? undefined : `Stored: …${auth.client_secret.last4}`}
        hint={auth?.client_secret == null ? 'If the client has one.' : 'The stored one stays if this is left empty.'}
      />
      <TextField
        label="Scope"
        optional
        name="scope"
        autoComplete="off"
        spellCheck={false}
        maxLength={1000}
        defaultValue={auth?.scope ?? ''}
        placeholder="issues:read issues:write"
        hint={`What is asked for.${isNamed ? '' : ' Left empty, it is what the server names.'}`}
      />
    </>
  );
}

/** The authorization server of a service, which does not name it. */
function NamedServerFields({ auth, problems }: Omit<OAuthProps, 'kind'>) {
  return (
    <>
      <TextField
        label="Authorization address"
        name="authorization_url"
        autoComplete="off"
        spellCheck={false}
        maxLength={2048}
        defaultValue={auth?.authorization_url ?? ''}
        placeholder="https://auth.example.com/authorize"
        hint="Where a person consents. Make a client there that leads back to /oauth/connections/callback of this Lodge."
        error={problems['authorization_url']}
      />
      <TextField
        label="Token address"
        name="token_url"
        autoComplete="off"
        spellCheck={false}
        maxLength={2048}
        defaultValue={auth?.token_url ?? ''}
        placeholder="https://auth.example.com/token"
        hint="Where access is given and renewed. With another address, the secret must be given again."
        error={problems['token_url']}
      />
      <CheckField
        label="Send the secret in the body"
        name="secret_in_body"
        defaultChecked={auth?.client_auth === 'client_secret_post'}
        hint="For servers that do not take it in a header."
      />
    </>
  );
}
