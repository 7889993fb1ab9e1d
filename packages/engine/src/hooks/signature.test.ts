/** Signatures, against the examples that their senders publish. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { signatureFormOf } from '@lodge/domain';
import type { HookHeaders, OwnSignature, SignatureKind } from '@lodge/domain';
import { isSignedBy } from './signature.ts';

interface Signed {
  readonly kind: SignatureKind;
  readonly secret: string;
  readonly headers: HookHeaders;
  readonly body: string;
  readonly now?: Date;
  readonly own?: OwnSignature;
}

const isSigned = ({ kind, secret, headers, body, now = new Date(), own }: Signed): boolean =>
  isSignedBy(secret, signatureFormOf(kind, own ?? null), { headers, body: Buffer.from(body) }, now);
const at = (seconds: number): Date => new Date(seconds * 1000);
const hmac = (secret: string | Buffer, text: string, encoding: 'hex' | 'base64' = 'hex'): string =>
  createHmac('sha256', secret).update(text).digest(encoding);

// docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
const github: Signed = {
  kind: 'github',
  secret: "It's a Secret to Everybody",
  headers: { 'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' },
  body: 'Hello, World!',
};

// The example of the Standard Webhooks libraries.
const standard: Signed = {
  kind: 'standard',
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  headers: {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
  body: '{"test": 2432232314}',
  now: at(1_614_265_330),
};

// Stripe publishes its signing scheme and no secret to try: docs.stripe.com/webhooks, "Verify webhook signatures manually".
const stripeTime = 1_492_774_577;
const stripeBody = '{"id":"evt_1"}';
const stripe: Signed = {
  kind: 'stripe',
  secret: 'whsec_stripe',
  headers: {
    'stripe-signature': `t=${stripeTime},v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39,v1=${hmac('whsec_stripe', `${stripeTime}.${stripeBody}`)}`,
  },
  body: stripeBody,
  now: at(stripeTime),
};

const own = { header: 'X-My-Signature', encoding: 'base64', prefix: 'v=' } as const;
const generic: Signed = {
  kind: 'hmac',
  own,
  secret: 'ä secret',
  headers: { 'x-my-signature': `v=${hmac('ä secret', '{"a":"ä"}', 'base64')}` },
  body: '{"a":"ä"}',
};

const all = [github, standard, stripe, generic];

test('what is signed as its sender publishes it is right', () => {
  for (const signed of all) assert.ok(isSigned(signed), signed.kind);
});

test('another body, secret or kind, and no header at all, are wrong', () => {
  for (const signed of all) {
    assert.ok(!isSigned({ ...signed, body: `${signed.body} ` }), signed.kind);
    assert.ok(!isSigned({ ...signed, secret: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }), signed.kind);
    assert.ok(!isSigned({ ...signed, headers: {} }), signed.kind);
    for (const [name, value] of Object.entries(signed.headers)) {
      assert.ok(!isSigned({ ...signed, headers: { ...signed.headers, [name]: undefined } }), name);
      for (const wrong of ['', value!.slice(0, -6), `${value!.slice(0, 12)}x`, 'v1=,t=,v1,', 'x'.repeat(5_000)]) {
        assert.ok(!isSigned({ ...signed, headers: { ...signed.headers, [name]: wrong } }), `${name}: ${wrong}`);
      }
    }
  }
});

test('a signature is five minutes old at most, and not from the future', () => {
  for (const signed of [stripe, standard]) {
    const seconds = signed.now!.getTime() / 1000;
    assert.ok(isSigned({ ...signed, now: at(seconds + 300) }), signed.kind);
    assert.ok(!isSigned({ ...signed, now: at(seconds + 301) }), signed.kind);
    assert.ok(!isSigned({ ...signed, now: at(seconds - 301) }), signed.kind);
  }
});

test('a time that is none is wrong, though it is signed', () => {
  for (const time of ['', 'NaN', '-1', '1e9', '1492774577.0', ' ']) {
    const header = `t=${time},v1=${hmac(stripe.secret, `${time}.${stripeBody}`)}`;
    assert.ok(!isSigned({ ...stripe, headers: { 'stripe-signature': header } }), time);
  }
});

test('while a secret is changed one right signature of several is enough, of not too many', () => {
  const right = standard.headers['webhook-signature']!;
  const wrong = `v1,${Buffer.alloc(32).toString('base64')}`;
  const signed = (values: readonly string[]) =>
    isSigned({ ...standard, headers: { ...standard.headers, 'webhook-signature': values.join(' ') } });
  assert.ok(signed([wrong, 'v2,x', right]));
  assert.ok(!signed([wrong, wrong]));
  assert.ok(!signed([...Array<string>(16).fill(wrong), right]));
});
