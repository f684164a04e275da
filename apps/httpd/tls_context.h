/* tls_context.h - what all encrypted connections share: certificate, key, and what is offered. */
#ifndef HTTPD_TLS_CONTEXT_H
#define HTTPD_TLS_CONTEXT_H

#include <openssl/ssl.h>

/* A new connection with the certificate that was loaded last, or NULL. */
SSL *tls_context_new_ssl(void);

#endif
