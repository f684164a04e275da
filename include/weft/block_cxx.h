/* weft/block_cxx.h - blocks in C++: included by weft/block.h.
 *
 * An exception that leaves a block started by weft_async cancels its scope, and is thrown
 * again where the finish block ends, however that is left but by another exception. Of
 * several the first is.
 */
#ifndef WEFT_BLOCK_CXX_H
#define WEFT_BLOCK_CXX_H

#ifdef __cplusplus

#pragma GCC system_header

#include <atomic>
#include <cxxabi.h>
#include <exception>
#include <type_traits>
#include <utility>

#include <weft/scope.h>

/* std::uncaught_exceptions came with C++17; the C++ ABI has always kept the count. */
inline unsigned weft_uncaught_exceptions_()
{
	struct globals {
		void *caught;
		unsigned uncaught;
	};

	return reinterpret_cast<const globals *>(abi::__cxa_get_globals())->uncaught;
}

/* Tests that all flags are false: only then is weft_flags_<false, flags...> the same type as
 * weft_flags_<flags..., false>. C++11 has no fold expressions. */
template <bool...> struct weft_flags_ {
};

/* A scope as a C++ object. */
class weft_finish_scope_ : public weft_scope
{
      public:
	weft_finish_scope_(int *result, bool shield, const char *where)
	{
		weft_finish_begin_(this, result, shield, where);
	}

	weft_finish_scope_(const weft_finish_scope_ &) = delete;
	weft_finish_scope_ &operator=(const weft_finish_scope_ &) = delete;

	~weft_finish_scope_() noexcept(false)
	{
		weft_finish_end_(this);
#ifdef __cpp_exceptions
		if (caught != nullptr && weft_uncaught_exceptions_() == unwinding)
			std::rethrow_exception(std::move(caught));
#endif
	}

	/* Runs a block in place. What it throws is kept; blocks may throw at the same time, if
	 * they have hopped to other colors. */
	template <class Block> void run(Block &block) noexcept
	{
#ifdef __cpp_exceptions
		try {
			block(nullptr);
		} catch (...) {
			if (!taken.test_and_set())
				caught = std::current_exception();
			weft_scope_cancel(this);
		}
#else
		block(nullptr);
#endif
	}

      private:
#ifdef __cpp_exceptions
	std::exception_ptr caught;
	std::atomic_flag taken = ATOMIC_FLAG_INIT;
	unsigned unwinding = weft_uncaught_exceptions_();
#endif
};

/* Starts a block: weft_block_start_(scope) << block. */
class weft_block_start_
{
      public:
	explicit weft_block_start_(weft_finish_scope_ &around) : scope(around) {}

	template <class... Own> const weft_block_start_ &with() const
	{
		static_assert(std::is_same<weft_flags_<false, std::is_array<Own>::value...>,
					   weft_flags_<std::is_array<Own>::value..., false>>::value,
			      WEFT_NO_ARRAYS_);
		return *this;
	}

	template <class Block> void operator<<(Block &&block) const
	{
		started<typename std::remove_reference<Block>::type> s = { &scope, &block };

		if (weft_async_call(s.on_its_stack, &s) != 0)
			scope.run(block);
	}

      private:
	template <class Block> struct started {
		weft_finish_scope_ *scope;
		Block *block;

		/* Who started it may go on as soon as the block waits: nothing of it is used
		 * after the first lines. */
		static int on_its_stack(void *arg)
		{
			started s = *static_cast<started *>(arg);
			Block mine(std::move(*s.block));

			s.scope->run(mine);
			return 0;
		}
	};

	weft_finish_scope_ &scope;
};

#define WEFT_SCOPE_(name, result, shield) \
	for (weft_finish_scope_ * WEFT_INNERMOST_, name(result, shield, WEFT_HERE), \
	     *weft_async_must_stand_in_a_weft_finish_ = WEFT_INNERMOST_ = &name; \
	     weft_async_must_stand_in_a_weft_finish_; \
	     weft_async_must_stand_in_a_weft_finish_ = nullptr)

#define WEFT_BODY_ \
	(struct weft_async_in_weft_async_needs_its_own_weft_finish_ * \
	 weft_async_must_stand_in_a_weft_finish_ __attribute__((unused))) mutable->void

/* All is one expression: an if or a loop without braces has all of it. */
#define WEFT_START_ weft_block_start_(*weft_async_must_stand_in_a_weft_finish_)
#define WEFT_TYPE_(x) , decltype(x)

#define WEFT_ASYNC_ WEFT_START_ << [&] WEFT_BODY_
#define WEFT_ASYNC_OWN_(...) \
	WEFT_START_.with<void WEFT_EACH_(WEFT_TYPE_, __VA_ARGS__)>() << [&, __VA_ARGS__ ] WEFT_BODY_

#endif /* C++ */

#endif
