export * from './hook.ts';
export { base64KeyOf, signatureEncodings, signatureFormOf, signatureKinds, signedParts } from './signature.ts';
export type { OwnSignature, SignatureEncoding, SignatureForm, SignatureKind } from './signature.ts';
export { hookDeliveryOf } from './delivery.ts';
export { maxTemplateChars, parseTemplate } from './template.ts';
export { hookPromptOf, hookTextOf } from './prompt.ts';
