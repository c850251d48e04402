// AuthenticationRequest: the codes of its kinds (protocol, Message Formats, Authentication*).
export const OK = 0;
export const MD5 = 5;
export const SASL = 10;
export const SASL_CONTINUE = 11;
export const SASL_FINAL = 12;
