import type { Pairing } from '@lodge/sdk';
import { LoaderCircle } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from '../../../components/button.tsx';
import { TextField } from '../../../components/form/field.tsx';
import { Form } from '../../../components/form/form.tsx';
import { Failure, Notice } from '../../../components/notice.tsx';
import { Section } from '../../../components/page.tsx';
import { QrCode } from '../../../components/shown/qr-code.tsx';
import { text, useForm } from '../../../components/form/use-form.ts';
import { useNow } from '../../../components/time.tsx';
import { usePairing } from './use-pairing.ts';

/** Links a phone with WhatsApp: a code to scan that renews itself, or one to type in. */
export function PairingSection({ agentId }: { readonly agentId: string }) {
  const { pairing, error, isOn, begin } = usePairing(agentId);
  const hasBegun = isOn || pairing !== undefined;
  return (
    <Section title="Link the phone" description="The code renews itself until the phone has scanned it.">
      <div className="flex flex-col gap-5 px-5 py-5 sm:px-6">
        {pairing === undefined ? isOn && <Waiting>Asking WhatsApp for a code…</Waiting> : <State pairing={pairing} />}
        <Failure error={error} />
        <div className="flex flex-wrap gap-2">
          <Button variant={hasBegun ? 'secondary' : 'primary'} onClick={() => begin()}>
            {hasBegun ? 'Begin again' : 'Show the code'}
          </Button>
        </div>
        <NumberForm begin={begin} />
      </div>
    </Section>
  );
}

function Waiting({ children }: { readonly children: ReactNode }) {
  return (
    <p role="status" className="flex items-center gap-2 text-muted">
      <LoaderCircle aria-hidden className="size-4 animate-spin" />
      {children}
    </p>
  );
}

function State({ pairing }: { readonly pairing: Pairing }) {
  if (pairing.status === 'connected') return <Notice kind="info">The phone is linked.</Notice>;
  if (pairing.status === 'failed') {
    return (
      <Notice kind="error" alert>
        {pairing.reason?.message ?? 'The phone could not be linked.'}
      </Notice>
    );
  }
  if (pairing.status === 'expired') return <Waiting>The code has run out. The next one is on its way…</Waiting>;
  if (pairing.qr !== null) {
    return (
      <div className="flex flex-wrap items-center gap-6">
        <QrCode text={pairing.qr} label={`Code ${pairing.attempt} to scan with WhatsApp`} />
        <div className="flex max-w-64 flex-col gap-2">
          <p className="font-medium">Scan it with the phone</p>
          <p className="text-muted">WhatsApp, Settings, Linked devices, Link a device.</p>
          <p className="text-muted">
            Code {pairing.attempt}.{' '}
            {pairing.expires_at !== null && <Left key={pairing.attempt} until={pairing.expires_at} />}
          </p>
        </div>
      </div>
    );
  }
  if (pairing.pairing_code !== null) {
    return (
      <div className="flex flex-col gap-2">
        <p className="font-medium">Type this code in on the phone</p>
        <p className="font-mono text-3xl font-semibold tracking-[0.2em] wrap-anywhere">{pairing.pairing_code}</p>
        <p className="text-muted">WhatsApp, Settings, Linked devices, Link a device, Link with phone number.</p>
      </div>
    );
  }
  return <Waiting>{pairing.reason?.message ?? 'Waiting for a code from WhatsApp…'}</Waiting>;
}

/** The seconds that a code is still good for. */
function Left({ until }: { readonly until: string }) {
  const seconds = Math.max(0, Math.ceil((Date.parse(until) - useNow()) / 1000));
  return (
    <span aria-hidden className="tabular-nums">
      Good for {seconds} s.
    </span>
  );
}

function NumberForm({ begin }: { readonly begin: (phoneNumber: string) => void }) {
  const form = useForm<'phone_number', void>({
    check: (data) =>
      /^\+?[\d ()-]{7,24}$/.test(text(data, 'phone_number').trim())
        ? {}
        : { phone_number: 'Enter the number with its country, such as +15551234567.' },
    send: async (data) => begin(text(data, 'phone_number').trim()),
    done: () => undefined,
  });
  return (
    <details className="rounded-control border border-line px-4 py-3">
      <summary className="font-medium">No camera? Link it by its number</summary>
      <Form form={form} aria-label="Link by phone number" className="flex flex-col gap-4 pt-4">
        <TextField
          label="Phone number of the agent"
          name="phone_number"
          type="tel"
          autoComplete="off"
          maxLength={25}
          placeholder="+15551234567"
          hint="A code to type in on this phone is shown then."
          error={form.problems.phone_number}
        />
        <div>
          <Button type="submit" pending={form.pending}>
            Show a code to type in
          </Button>
        </div>
      </Form>
    </details>
  );
}
