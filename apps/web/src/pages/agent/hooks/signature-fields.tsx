import type { CreateHook } from '@lodge/sdk';
import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { ChoiceField } from '../../../components/form/choice-field.tsx';
import { SelectField, TextField, useSecretHint } from '../../../components/form/field.tsx';
import type { Problems } from '../../../components/form/use-form.ts';
import { text } from '../../../components/form/use-form.ts';
import { signatureTitles } from './queries.ts';

type Signature = NonNullable<CreateHook['signature']>;
type Kind = Signature['type'] | 'none';
export type SignatureName = 'secret' | 'header';

const meanings: Readonly<Record<Signature['type'], string>> = {
  github: 'X-Hub-Signature-256, over the body.',
  stripe: 'Stripe-Signature, over time and body; at most 5 minutes old.',
  standard: 'webhook-signature, over id, time and body; at most 5 minutes old.',
  hmac: 'HMAC-SHA256 of the body, in a header that you name.',
};

export function checkSignature(data: FormData): Problems<SignatureName> {
  const kind = text(data, 'signature') as Kind;
  if (kind === 'none') return {};
  const problems: Problems<SignatureName> = {};
  if (text(data, 'secret').length < 8) problems.secret = 'Enter at least 8 characters.';
  if (kind === 'hmac' && !/^[A-Za-z0-9-]+$/.test(text(data, 'header').trim())) {
    problems.header = 'Enter the name of a header, such as X-Signature.';
  }
  return problems;
}

export function signatureOf(data: FormData): Pick<CreateHook, 'signature'> {
  const type = text(data, 'signature') as Kind;
  if (type === 'none') return {};
  const secret = text(data, 'secret');
  if (type !== 'hmac') return { signature: { type, secret } };
  const prefix = text(data, 'prefix');
  const encoding = text(data, 'encoding') as 'hex' | 'base64';
  return { signature: { type, secret, header: text(data, 'header').trim(), encoding, prefix } };
}

/** A secret that nobody guesses, in hex as many services want it. */
const randomSecret = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** How the sender signs, so that the address alone opens nothing. */
export function SignatureFields({ problems }: { readonly problems: Problems<SignatureName> }) {
  const [kind, setKind] = useState<Kind>('github');
  const kinds = (Object.keys(meanings) as Signature['type'][]).map((value) => ({
    value,
    label: signatureTitles[value],
    meaning: meanings[value],
  }));
  return (
    <>
      <ChoiceField<Kind>
        legend="How the sender signs"
        name="signature"
        value={kind}
        onChoose={setKind}
        choices={[...kinds, { value: 'none', label: 'Not at all', meaning: 'Whoever has the address is believed.' }]}
      />
      {kind !== 'none' && <SecretField error={problems.secret} />}
      {kind === 'hmac' && (
        <div className="grid gap-5 sm:grid-cols-3">
          <TextField
            label="Header"
            name="header"
            maxLength={100}
            placeholder="X-Signature"
            autoComplete="off"
            error={problems.header}
          />
          <SelectField label="Encoding" name="encoding">
            <option value="hex">hex</option>
            <option value="base64">base64</option>
          </SelectField>
          <TextField label="Prefix" optional name="prefix" maxLength={32} placeholder="sha256=" autoComplete="off" />
        </div>
      )}
    </>
  );
}

/** A secret that is typed, or made here. */
function SecretField({ error }: { readonly error: string | undefined }) {
  const [secret, setSecret] = useState('');
  const hint = useSecretHint('secret', 'Enter the same at the sender. It is kept encrypted, and not shown again.');
  return (
    <div className="flex items-end gap-2 max-sm:flex-col max-sm:items-stretch">
      <div className="min-w-0 grow">
        <TextField
          label="Secret that both share"
          name="secret"
          minLength={8}
          maxLength={512}
          autoComplete="off"
          spellCheck={false}
          value={secret}
          onChange={(event) => setSecret(event.target.value)}
          data-secret=""
          hint={hint}
          className="font-mono"
          error={error}
        />
      </div>
      <Button onClick={() => setSecret(randomSecret())} className="sm:mb-6.5">
        Make one
      </Button>
    </div>
  );
}
